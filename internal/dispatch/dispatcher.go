package dispatch

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// Evictor makes one eviction call and waits for its end. It must be safe for concurrent use, and give up when the
// context ends.
type Evictor interface {
	Evict(ctx context.Context, e eviction.Request) eviction.Outcome
}

// Options are the settings of a [Dispatcher]. Of CoreOptions, Jitter need not be set. Leading is also called right
// before each call, by many goroutines. OtherReady and WatchOutageUntil are called under the dispatcher's lock.
type Options struct {
	CoreOptions

	// Evictor makes the calls.
	Evictor Evictor

	// Read reads a node and reports the outcome by NodeRead: to probe the API server in an outage, or because the turn
	// of the node is next. It is called in its own goroutine.
	Read func(ctx context.Context, node string)

	// Started is called by the goroutine of a call before its first request. It must not block.
	Started func(e eviction.Request)

	// Ended is called after each call, by its goroutine, once its place is free and Settle has the outcome. It must not
	// block.
	Ended func(e eviction.Request, o eviction.Outcome, at time.Time)
}

// Dispatcher is the lock, the timer and the goroutines around a [Core]. Its methods are safe for concurrent use.
type Dispatcher struct {
	options Options
	metrics *metrics

	mu    sync.Mutex
	core  *Core
	timer *time.Timer
	term  *term // of leadership; nil while not leading

	drained bool
}

// New returns a dispatcher that starts no call before Lead is called.
func New(o Options) *Dispatcher {
	d := &Dispatcher{options: o, metrics: newMetrics()}
	o.Leading, o.Jitter = d.leading, rand.Float64
	d.core = NewCore(time.Now(), o.CoreOptions)
	d.timer = time.AfterFunc(time.Hour, func() { d.step(TimePassed{}) })
	d.timer.Stop()
	return d
}

// Offer adds a candidate, or replaces the candidate with the same UID. It returns false if a call for the UID is in
// flight, or if its outcome is not settled.
func (d *Dispatcher) Offer(c Candidate) (taken bool) { return d.step(Offered{c}).Taken }

// Withdraw removes a candidate. It returns false if its call has begun; then Withdrawn reports true until the outcome
// is settled.
func (d *Dispatcher) Withdraw(uid types.UID) (waited bool) { return d.step(Withdrawn{uid}).Taken }

// Withdrawn reports whether the eviction of a pod was withdrawn after its call had begun. In the meantime the pod had a
// reason to stay, so the call must send no further request, even if the pod was offered again.
func (d *Dispatcher) Withdrawn(uid types.UID) bool {
	return locked(d, func(c *Core) bool { return c.Withdrawn(uid) })
}

// Settle returns the outcome of the last call for the UID once, after the call has ended; nil if there is none. Then
// the pod may be offered again.
func (d *Dispatcher) Settle(uid types.UID) *Ended { return d.step(Settled{uid}).Settled }

// SetRates replaces the rates, which must be valid, and the number of workers. A rate that keeps its name and its
// topologyKey keeps its level; others begin empty. Calls in flight continue.
func (d *Dispatcher) SetRates(rates []policy.Rate, workers int) {
	d.step(Configured{Rates: rates, Workers: workers})
}

// SetPaused pauses all calls, or ends the pause. After SetPaused(true) has returned, no call starts; calls in flight
// continue.
func (d *Dispatcher) SetPaused(paused bool) { d.step(Paused{paused}) }

// ServerAnswered records that the API server has answered: while calls pause because it could not be reached, a
// probe is sent soon. It may be called often.
func (d *Dispatcher) ServerAnswered() {
	if !d.PausedSince().IsZero() {
		d.step(ServerAnswered{})
	}
}

// NodeRead records the outcome of a GET of a node, and when the GET was sent. The outcome shows whether the API server
// can be reached, so it ends, begins or lengthens the pause of all calls.
func (d *Dispatcher) NodeRead(node string, sent time.Time, o eviction.Outcome) {
	d.step(NodeRead{node, sent, bounded(o)})
}

// PausedSince returns when the present pause, caused by an outage, began; zero while there is none.
func (d *Dispatcher) PausedSince() time.Time { return locked(d, (*Core).PausedSince) }

// InFlight returns how many calls are in flight.
func (d *Dispatcher) InFlight() int { return locked(d, (*Core).InFlight) }

// Waiting returns how many candidates wait.
func (d *Dispatcher) Waiting() int { return locked(d, (*Core).Waiting) }

// WantsPlaces reports whether a candidate waits for a place, and for nothing else, or did within the last second: the
// API server, or this program's own limit, is the bottleneck.
func (d *Dispatcher) WantsPlaces() bool {
	return locked(d, func(c *Core) bool { return c.places.wantedAt(time.Now()) })
}

// locked returns what a method of the core returns, under the lock.
func locked[T any](d *Dispatcher, method func(*Core) T) T {
	d.mu.Lock()
	defer d.mu.Unlock()
	return method(d.core)
}

// Status returns the status of the eviction of a pod; the zero value if it was not offered.
func (d *Dispatcher) Status(uid types.UID) Status {
	return locked(d, func(c *Core) Status { return c.Status(time.Now(), uid) })
}

// leading reports whether a call may be chosen. It returns false between the end of a term's context and the end of the
// term, and once Drain was called. The caller holds the lock.
func (d *Dispatcher) leading() bool {
	return !d.drained && d.term != nil && d.term.ctx.Err() == nil && d.options.Leading()
}

// step passes an input to the core, and carries out the effects.
func (d *Dispatcher) step(in Input) Effects {
	d.mu.Lock()
	defer d.mu.Unlock()
	effects := d.core.Step(time.Now(), in)
	if effects.Next.IsZero() {
		d.timer.Stop()
	} else {
		d.timer.Reset(time.Until(effects.Next))
	}
	t := d.term
	for _, s := range effects.Starts {
		t.calls.Go(func() { d.call(t.ctx, s) })
	}
	if effects.Probe != "" {
		effects.Ahead = append(effects.Ahead, effects.Probe)
	}
	for _, node := range effects.Ahead {
		t.calls.Go(func() { d.options.Read(t.ctx, node) })
	}
	if effects.Pause != "" {
		d.metrics.pauses.WithLabelValues(effects.Pause).Inc()
	}
	return effects
}

// Levels returns how much of each rate is available.
func (d *Dispatcher) Levels() []Level {
	return locked(d, func(c *Core) []Level { return c.rates.Levels(time.Now()) })
}
