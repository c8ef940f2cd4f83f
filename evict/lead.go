package evict

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
)

// leadingPoll is how long no permit is offered after the caller's Leading has denied.
const leadingPoll = 250 * time.Millisecond

// term is one time of leadership.
type term struct {
	ctx    context.Context // of the calls
	cancel context.CancelFunc
	calls  sync.WaitGroup // calls are added under the pool's lock, and only before over
	over   bool           // no further call starts; under the pool's lock

	cutting bool               // Drain has ended the context; under the pool's lock
	cut     []eviction.Request // calls that were under way then; under the pool's lock
}

// Lead permits calls until the context ends, and returns when all of them have ended and their
// outcomes are reported. The calls' contexts end with it. It fails when another Lead is under way, and
// once Drain was called; otherwise it may be called again after it has returned.
func (p *Pool) Lead(ctx context.Context) error {
	t, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer t.cancel()
	p.pump(ctx, t)
	p.mu.Lock()
	t.over = true
	p.mu.Unlock()
	t.calls.Wait()
	p.mu.Lock()
	p.term = nil
	p.mu.Unlock()
	return nil
}

func (p *Pool) begin(ctx context.Context) (*term, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drained {
		return nil, errors.New("leading: the pool is drained")
	}
	if p.term != nil {
		return nil, errors.New("leading: another Lead is under way")
	}
	t := &term{}
	t.ctx, t.cancel = context.WithCancel(ctx)
	p.term = t
	p.limiter.BeginTerm(time.Now())
	p.publish()
	return t, nil
}

// Drain stops all permits for good, and blocks until the calls under way have ended and their outcomes are
// reported. If its context ends first, it cancels the calls, waits for them, and returns those that were not
// accepted. Lead goes on until its own context ends, without permits.
func (p *Pool) Drain(ctx context.Context) (cut []eviction.Request) {
	t := p.close()
	if t == nil {
		return nil
	}
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		t.cutting = true
		p.mu.Unlock()
		t.cancel()
	})
	defer stop()
	t.calls.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.cut
}

// noteCut remembers a call that has ended if Drain has cut it.
func (p *Pool) noteCut(t *term, e eviction.Request, o eviction.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.cutting && o.Kind != eviction.Accepted {
		t.cut = append(t.cut, e)
	}
}

// close stops all permits, and returns the present term.
func (p *Pool) close() *term {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.drained {
		p.drained = true
		p.metrics.slots.Sub(float64(p.workers))
		p.metrics.places.Sub(float64(p.maxSlow))
	}
	if p.term != nil {
		p.term.over = true
	}
	p.changed()
	return p.term
}

// pump offers permits, one at a time, until the context ends.
func (p *Pool) pump(ctx context.Context, t *term) {
	for ctx.Err() == nil {
		g, wait := p.offer(t)
		if !p.handed(ctx, g, wait) && g != nil {
			p.withdraw(g)
		}
	}
}

// withdraw takes back an offer that was not taken. Unlike Release it does not wake the pump, which is
// awake.
func (p *Pool) withdraw(g *permit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limiter.Leave(g.ticket)
}

// handed blocks until the permit is taken, or something has changed, the wait is over, or the context has ended.
// It reports whether the permit was taken.
func (p *Pool) handed(ctx context.Context, g *permit, wait time.Duration) bool {
	var permits, slowPermits chan<- shard.Permit
	if g != nil && g.ticket.Slot {
		permits = p.permits
	}
	if g != nil && g.ticket.Place {
		slowPermits = p.slowPermits
	}
	var again <-chan time.Time
	if wait > 0 {
		again = time.After(wait)
	}
	select {
	case permits <- g:
		return true
	case slowPermits <- slowPermit{g}:
		return true
	case <-ctx.Done():
	case <-p.wake:
	case <-again:
	}
	return false
}

// offer returns a permit if one is available now, and how long until another one may be; 0: not before something
// has changed.
func (p *Pool) offer(t *term) (*permit, time.Duration) {
	if !p.leading() {
		return nil, leadingPoll
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.over || p.paused {
		return nil, 0
	}
	ticket, wait := p.limiter.Enter(time.Now())
	p.publish()
	if !ticket.Slot && !ticket.Place {
		return nil, wait
	}
	return &permit{pool: p, term: t, ticket: ticket}, wait
}
