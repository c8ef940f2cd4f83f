package evict

import (
	"sync/atomic"
	"time"

	"github.com/taint-manager/taint-manager/shard"
)

// grant is the permission to start one call. See [Pool.Grants] for how it may be used.
type grant struct {
	pool   *Pool
	term   *term
	ticket ticket
	used   atomic.Bool
}

// Start begins the call. A grant of a leadership that has ended makes none: its outcome is
// Interrupted.
func (g *grant) Start(e shard.Eviction, done func(shard.Outcome)) {
	if !g.used.CompareAndSwap(false, true) {
		panic("evict: Start of a grant that was used before")
	}
	if !g.begin() {
		go done(interrupted())
		return
	}
	g.pool.changed()
	go g.pool.call(g, e, done)
}

// begin counts the call in, unless its leadership has ended.
func (g *grant) begin() bool {
	p := g.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.term.over {
		p.gate.leave(g.ticket)
		p.changed()
		return false
	}
	g.term.calls.Add(1)
	p.gate.start(time.Now())
	return true
}

// Release gives the grant back unused.
func (g *grant) Release() {
	if !g.used.CompareAndSwap(false, true) {
		return
	}
	g.pool.mu.Lock()
	g.pool.gate.leave(g.ticket)
	g.pool.mu.Unlock()
	g.pool.changed()
}
