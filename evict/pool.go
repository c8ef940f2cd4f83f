package evict

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/shard"
)

// Evictor makes one eviction call and waits for its end. It must be safe for concurrent use, and give
// up when the context ends.
type Evictor interface {
	Evict(ctx context.Context, e shard.Eviction) shard.Outcome
}

// PoolOptions are the settings of a [Pool].
type PoolOptions struct {
	// Evictor makes the calls. Required.
	Evictor Evictor

	// Workers is how many calls may be under way at once. 0: that of config.Default.
	Workers int

	// Rate limits how many calls start in a second. 0: no limit.
	Rate float64

	// Leading is asked right before each call starts; a call that it denies does not start. It is
	// called by many goroutines. Nil: Lead's context alone decides.
	Leading func() bool

	// Metrics counts what the pool does. Nil: nothing is counted.
	Metrics *Metrics

	// Ended is told of each call that has ended, by many goroutines, once its slot is free and
	// before its shard learns of it. It must not block. Nil: nobody is told.
	Ended func(e shard.Eviction, o shard.Outcome, at time.Time)
}

// Pool owns the slots. Its methods are safe for concurrent use.
type Pool struct {
	evictor Evictor
	leading func() bool
	metrics *Metrics
	ended   func(e shard.Eviction, o shard.Outcome, at time.Time)
	workers int
	grants  chan shard.Grant
	wake    chan struct{} // something that the pump waits for may have changed

	mu      sync.Mutex
	gate    gate
	term    *term // of leadership; nil while not leading
	drained bool
}

// NewPool returns a pool that grants nothing before Lead is called.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{
		evictor: o.Evictor, leading: o.Leading, metrics: o.Metrics, ended: o.Ended, workers: o.Workers,
		grants: make(chan shard.Grant), wake: make(chan struct{}, 1),
	}
	if p.workers <= 0 {
		p.workers = config.Default().EvictionWorkers
	}
	if p.leading == nil {
		p.leading = func() bool { return true }
	}
	if p.ended == nil {
		p.ended = func(shard.Eviction, shard.Outcome, time.Time) {}
	}
	if p.metrics == nil {
		p.metrics = newMetrics()
	}
	p.gate = gate{free: p.workers, pace: newPace(o.Rate), outage: outageBackoff{jitter: rand.Float64}}
	p.metrics.slots.Add(float64(p.workers))
	return p
}

// Grants yields the permissions to start a call. Receivers are served in the order in which they began
// to wait. The channel is never closed; it yields only inside Lead.
//
// A grant is to be used once. Its Start panics when the grant was used before; its Release does
// nothing then, so that it may be deferred.
func (p *Pool) Grants() <-chan shard.Grant { return p.grants }

// InFlight is how many calls are under way now.
func (p *Pool) InFlight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gate.running
}

// Nudge says that the API server was heard of: when calls pause because it is away, one is granted at
// once. It may be called often.
func (p *Pool) Nudge() {
	p.mu.Lock()
	cut := p.gate.outage.nudge(time.Now())
	p.mu.Unlock()
	if cut {
		p.changed()
	}
}

// PausedSince is when the present pause of all calls began; zero while there is none.
func (p *Pool) PausedSince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gate.outage.on() {
		return time.Time{}
	}
	return p.gate.outage.since
}

// NodeRead says how a GET of a node has ended that was sent at that moment. It shows whether the API
// server is there, so it ends, begins or lengthens the pause of all calls.
func (p *Pool) NodeRead(sent time.Time, o shard.Outcome) {
	p.learn(func(now time.Time) (pause string) {
		if o.Kind == shard.Away && !p.gate.outage.on() {
			pause = pauseAway
		}
		p.gate.outage.nodeRead(now, sent, o)
		return pause
	})
}

// learn lets the gate learn something, which names the cause when all calls pause from now on.
func (p *Pool) learn(something func(now time.Time) (pause string)) {
	p.mu.Lock()
	wasOn := p.gate.outage.on()
	pause := something(time.Now())
	on := p.gate.outage.on()
	p.mu.Unlock()
	p.metrics.paused(pause, wasOn, on)
	if wasOn {
		p.changed()
	}
}

// changed makes the pump look again. It does not block.
func (p *Pool) changed() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// call makes one eviction call and reports its outcome.
func (p *Pool) call(g *grant, e shard.Eviction, done func(shard.Outcome)) {
	defer g.term.calls.Done()
	p.metrics.inFlight.Inc()
	outcome := complete(p.evict(g.term.ctx, e))
	now := time.Now()
	p.metrics.ended(e, outcome, now)
	p.free(g, outcome)
	p.ended(e, outcome, now)
	done(outcome)
}

// evict asks the evictor, if this process leads at this very moment.
func (p *Pool) evict(ctx context.Context, e shard.Eviction) (o shard.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = panicked(ctx, e, r)
		}
	}()
	if ctx.Err() != nil || !p.leading() {
		return interrupted()
	}
	return p.evictor.Evict(ctx, e)
}

// free gives the slot of a call back, and lets the gate learn from its outcome.
func (p *Pool) free(g *grant, o shard.Outcome) {
	p.learn(func(now time.Time) (pause string) { return p.gate.end(now, g.ticket, o) })
	p.changed()
}

// complete makes up for what an evictor of a caller's own may leave out, and cuts what it says.
func complete(o shard.Outcome) shard.Outcome {
	if o.Kind < shard.Accepted || o.Kind > shard.Unconfirmed {
		return shard.Outcome{Kind: shard.Failed, Cause: CauseUnknown, Message: fmt.Sprintf("the evictor returned kind %d", o.Kind)}
	}
	o.Cause, o.Message = truncate.Text(o.Cause), truncate.Text(o.Message)
	if o.Kind == shard.Throttled {
		o.RetryAfter = min(o.RetryAfter, mostRetryAfter)
	}
	return atLeastASecond(o)
}

func interrupted() shard.Outcome {
	return shard.Outcome{Kind: shard.Interrupted, Message: "this process does not lead any longer"}
}

func panicked(ctx context.Context, e shard.Eviction, r any) shard.Outcome {
	text := truncate.Text(fmt.Sprintf("the evictor panicked: %v", r))
	klog.FromContext(ctx).Error(errors.New(text), "Evicting a pod failed",
		"pod", klog.KRef(e.Pod.Namespace, e.Pod.Name), "stack", string(debug.Stack()))
	return shard.Outcome{Kind: shard.Failed, Cause: CausePanic, Message: text}
}
