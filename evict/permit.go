package evict

import (
	"sync/atomic"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
)

// permit is the permission to start one call. See [Pool.Permits] for how it may be used.
type permit struct {
	pool   *Pool
	term   *term
	ticket Ticket // changed under the pool's lock
	ended  bool   // its call has; under the pool's lock
	used   atomic.Bool
}

// slowPermit is a permit whose call starts in a slow place.
type slowPermit struct{ *permit }

// Start begins the call in a slow place.
func (g slowPermit) Start(e eviction.Request, done func(eviction.Outcome)) { g.startIn(true, e, done) }

// Start begins the call. With a permit of a leadership that has ended, and while the pool is paused, no call is made:
// the outcome is Interrupted.
func (g *permit) Start(e eviction.Request, done func(eviction.Outcome)) { g.startIn(false, e, done) }

func (g *permit) startIn(place bool, e eviction.Request, done func(eviction.Outcome)) {
	if !g.used.CompareAndSwap(false, true) {
		panic("evict: Start of a permit that was used before")
	}
	if !g.begin(e, place) {
		go done(interrupted())
		return
	}
	g.pool.changed()
	go g.pool.call(g, e, done)
}

// begin counts the call, unless its leadership has ended or all calls are paused.
func (g *permit) begin(e eviction.Request, place bool) bool {
	p := g.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.term.over || p.paused {
		p.limiter.Leave(g.ticket)
		p.publish()
		p.changed()
		return false
	}
	g.term.calls.Add(1)
	p.limiter.Start(time.Now(), &g.ticket, e.Pod, place)
	p.publish()
	return true
}

// Take takes tokens as [shard.Permit] has it. A permit that starts no call any longer needs none.
func (g *permit) Take(taintKey string, nodeLabels map[string]string) guard.Wait {
	p := g.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.term.over {
		return guard.Wait{}
	}
	wait := p.limiter.Take(time.Now(), &g.ticket, taintKey, nodeLabels)
	p.publish()
	return wait
}

// Release gives the permit back unused.
func (g *permit) Release() {
	if !g.used.CompareAndSwap(false, true) {
		return
	}
	g.pool.mu.Lock()
	g.pool.limiter.Leave(g.ticket)
	g.pool.publish()
	g.pool.mu.Unlock()
	g.pool.changed()
}
