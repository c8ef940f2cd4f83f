package evict

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
)

// keptEvery is the shortest time between two lines of the log about slow calls that keep their slots.
const keptEvery = time.Minute

// Evictor makes one eviction call and waits for its end. It must be safe for concurrent use, and give
// up when the context ends.
type Evictor interface {
	Evict(ctx context.Context, e eviction.Request) eviction.Outcome
}

// PoolOptions are the settings of a [Pool].
type PoolOptions struct {
	// Evictor makes the calls. Required.
	Evictor Evictor

	// Workers is how many calls may be under way at once, each for its first second at most. 0: that of
	// config.Default.
	Workers int

	// MaxSlow is how many slow calls may be under way beside them. 0: that of
	// config.Default.
	MaxSlow int

	// Rate limits how many calls start in a second. 0: no limit.
	Rate float64

	// Rates limit how many deletions are accepted. They must be valid. Their buckets begin empty with each Lead.
	Rates []policy.Rate

	// Paused withholds all permits, so that no call starts.
	Paused bool

	// Leading is asked right before each call starts; a call that it denies does not start. It is
	// called by many goroutines. Nil: Lead's context alone decides.
	Leading func() bool

	// Metrics counts what the pool does. Nil: nothing is counted.
	Metrics *Metrics

	// Ended is called after each call, by many goroutines, once the call's slot is free and before its
	// shard receives the outcome. It must not block. Nil: nothing is called.
	Ended func(e eviction.Request, o eviction.Outcome, at time.Time)
}

// Pool owns the slots. Its methods are safe for concurrent use.
type Pool struct {
	evictor Evictor
	leading func() bool
	metrics *Metrics
	ended   func(e eviction.Request, o eviction.Outcome, at time.Time)
	workers int
	maxSlow int
	permits chan shard.Permit
	wake    chan struct{} // something that the pump waits for may have changed

	slowPermits chan shard.Permit
	slow        atomic.Pointer[slow]

	mu         sync.Mutex
	limiter    *Limiter
	slowCalls  int       // as the metric has them
	lastReport time.Time // when the log last said that slow calls keep their slots
	term       *term     // of leadership; nil while not leading
	drained    bool
	paused     bool

	ratesChanged chan struct{} // closed, and made anew, when evictions that wait for a rate are to try again
}

// slow is the set of slow workloads; changed is closed when the set changes.
type slow struct {
	workloads shard.SlowWorkloads
	changes   int
	changed   chan struct{}
}

// NewPool returns a pool that yields no permit before Lead is called.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{
		evictor: o.Evictor, leading: o.Leading, metrics: o.Metrics, ended: o.Ended, workers: o.Workers, paused: o.Paused, maxSlow: o.MaxSlow,
		ratesChanged: make(chan struct{}),
		permits:      make(chan shard.Permit), slowPermits: make(chan shard.Permit), wake: make(chan struct{}, 1),
	}
	if p.workers <= 0 {
		p.workers = config.Default().EvictionWorkers
	}
	if p.maxSlow <= 0 {
		p.maxSlow = config.Default().MaxSlowEvictions
	}
	if p.leading == nil {
		p.leading = func() bool { return true }
	}
	if p.ended == nil {
		p.ended = func(eviction.Request, eviction.Outcome, time.Time) {}
	}
	if p.metrics == nil {
		p.metrics = newMetrics()
	}
	p.limiter = NewLimiter(p.workers, p.maxSlow, o.Rate, rand.Float64)
	p.limiter.SetRates(time.Now(), o.Rates)
	p.slow.Store(&slow{changed: make(chan struct{})})
	p.metrics.slots.Add(float64(p.workers))
	p.metrics.places.Add(float64(p.maxSlow))
	return p
}

// Permits yields the permissions to start a call in a slot. Receivers are served in the order in which they began
// to wait. The channel is never closed; it yields only inside Lead.
//
// A permit is to be used once. Its Start panics when the permit was used before; its Release does
// nothing then, so that it may be deferred.
func (p *Pool) Permits() <-chan shard.Permit { return p.permits }

// SlowPermits yields the permissions to start a call in a slow place; they are used as those of Permits.
// It yields only while some workload is slow.
func (p *Pool) SlowPermits() <-chan shard.Permit { return p.slowPermits }

// SlowWorkloads returns the workloads whose calls are slow, and a channel that is closed when the set changes.
func (p *Pool) SlowWorkloads() (shard.SlowWorkloads, <-chan struct{}) {
	s := p.slow.Load()
	return s.workloads, s.changed
}

// publish passes the set of slow workloads to the shards if it has changed, wakes those that wait for a rate, and
// counts the slow calls; under the pool's lock.
func (p *Pool) publish() {
	p.metrics.slow.Add(float64(p.limiter.slow - p.slowCalls))
	p.slowCalls = p.limiter.slow
	before := p.slow.Load()
	if changes := p.limiter.workloads.changes; changes != before.changes {
		p.slow.Store(&slow{workloads: p.limiter.Slow(), changes: changes, changed: make(chan struct{})})
		close(before.changed)
	}
	if p.limiter.RatesChanged() {
		close(p.ratesChanged)
		p.ratesChanged = make(chan struct{})
	}
}

// SetPaused withholds all permits, or offers them again. After SetPaused(true) has returned, no call starts; those
// under way go on.
func (p *Pool) SetPaused(paused bool) {
	p.mu.Lock()
	p.paused = paused
	p.mu.Unlock()
	p.changed()
}

// InFlight returns how many calls are under way now.
func (p *Pool) InFlight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limiter.InFlight()
}

// Nudge records that the API server has answered: while calls pause because it could not be reached, one is
// permitted at once. It may be called often.
func (p *Pool) Nudge() {
	p.mu.Lock()
	cut := p.limiter.Nudge(time.Now())
	p.mu.Unlock()
	if cut {
		p.changed()
	}
}

// PausedSince returns when the present pause of all calls began; zero while there is none.
func (p *Pool) PausedSince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limiter.PausedSince()
}

// NodeRead records the outcome of a GET of a node that was sent at that moment. It shows whether the API server
// can be reached, so it ends, begins or lengthens the pause of all calls.
func (p *Pool) NodeRead(sent time.Time, o eviction.Outcome) {
	p.learn(func(now time.Time) (pause string) { return p.limiter.NodeRead(now, sent, o) })
}

// learn passes something to the limiter, which returns the cause if all calls pause from now on.
func (p *Pool) learn(something func(now time.Time) (pause string)) {
	p.mu.Lock()
	wasOn := p.limiter.outage.on()
	pause := something(time.Now())
	on := p.limiter.outage.on()
	p.publish()
	p.mu.Unlock()
	p.metrics.paused(pause, wasOn, on)
	if wasOn {
		p.changed()
	}
}

// changed wakes the pump. It does not block.
func (p *Pool) changed() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// call makes one eviction call and reports its outcome.
func (p *Pool) call(g *permit, e eviction.Request, done func(eviction.Outcome)) {
	defer g.term.calls.Done()
	p.metrics.inFlight.Inc()
	late := time.AfterFunc(SlowAfter, func() { p.late(g, e) })
	outcome := complete(p.evict(g.term.ctx, e))
	now := time.Now()
	p.metrics.ended(e, outcome, now)
	late.Stop()
	p.free(g, e, outcome)
	p.noteCut(g.term, e, outcome)
	p.ended(e, outcome, now)
	done(outcome)
}

// evict calls the evictor, if this process leads at this moment.
func (p *Pool) evict(ctx context.Context, e eviction.Request) (o eviction.Outcome) {
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

// late moves a call that is slow from its slot to a slow place, unless it has ended.
func (p *Pool) late(g *permit, e eviction.Request) {
	p.mu.Lock()
	if g.ended {
		p.mu.Unlock()
		return
	}
	kept := p.limiter.Late(&g.ticket, e.Pod)
	p.publish()
	report := kept && time.Since(p.lastReport) >= keptEvery
	if report {
		p.lastReport = time.Now()
	}
	p.mu.Unlock()
	if kept {
		p.metrics.kept.Inc()
	}
	if report {
		klog.FromContext(g.term.ctx).Info("All slow places are taken, and slow eviction calls keep their slots",
			"slowPlaces", p.maxSlow, "pod", klog.KRef(e.Pod.Namespace, e.Pod.Name), "after", SlowAfter)
	}
	p.changed()
}

// free releases what a call holds, and passes its outcome to the limiter.
func (p *Pool) free(g *permit, e eviction.Request, o eviction.Outcome) {
	p.learn(func(now time.Time) (pause string) {
		g.ended = true
		return p.limiter.End(now, &g.ticket, e.Pod, o)
	})
	p.changed()
}

// complete adds what a caller's own evictor may leave out, and cuts its texts.
func complete(o eviction.Outcome) eviction.Outcome {
	if o.Kind < eviction.Accepted || o.Kind > eviction.Unconfirmed {
		return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseUnknown, Message: fmt.Sprintf("the evictor returned kind %d", o.Kind)}
	}
	o.Cause, o.Message = truncate.Text(o.Cause), truncate.Text(o.Message)
	if o.Kind == eviction.Throttled {
		o.RetryAfter = min(o.RetryAfter, maxRetryAfter)
	}
	return atLeastASecond(o)
}

// interrupted returns the outcome of a call that ends before its deletion is sent.
func interrupted() eviction.Outcome {
	return eviction.Outcome{Kind: eviction.Interrupted, NothingDeleted: true, Message: "this process does not lead any longer"}
}

func panicked(ctx context.Context, e eviction.Request, r any) eviction.Outcome {
	text := truncate.Text(fmt.Sprintf("the evictor panicked: %v", r))
	klog.FromContext(ctx).Error(errors.New(text), "Evicting a pod failed",
		"pod", klog.KRef(e.Pod.Namespace, e.Pod.Name), "stack", string(debug.Stack()))
	return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CausePanic, Message: text}
}
