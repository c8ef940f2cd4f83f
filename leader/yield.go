package leader

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// yieldInterval is the shortest time between two yields of a process, in lease durations. A yield that fails leaves the
// cluster without a leader for one lease duration, so a process that yields again and again leads for 95 % of the time.
const yieldInterval = 20

// errYielded ends a term because of Yield.
var errYielded = errors.New("the lease is given back by request")

// yields is the state of an Election's yields. Any goroutine may read it.
type yields struct {
	// stop ends the lead function that runs; nil while none runs.
	stop atomic.Pointer[context.CancelCauseFunc]

	// last is when this process last gave the lease back because of Yield; nil before the first time.
	last atomic.Pointer[time.Time]

	// failed is the last yield after which this process led again before any other process; nil if none failed.
	failed atomic.Pointer[time.Time]

	// failures is the number of yields that failed.
	failures atomic.Int64
}

// Yield gives the leadership back so that another process can evict the pod in which this process runs. The context of
// the running lead function ends, and the lease is released once that function has returned. Then this process is no
// candidate until another process has led, or until the lease duration has passed. In the latter case this process
// leads on, and [Election.Trouble] says so.
//
// Yield does not block. It does nothing while this process does not lead, and within 20 lease durations of the last
// yield.
func (e *Election) Yield() {
	if stop := e.yields.stop.Load(); stop != nil && e.Leading() && !e.yieldedLately() {
		(*stop)(errYielded)
	}
}

func (e *Election) yieldedLately() bool {
	last := e.yields.last.Load()
	return last != nil && passed(*last, e.lock.now()) < yieldInterval*e.settings.LeaseDuration.Duration
}

// failedYield returns when the last failed yield was, if no other process has led since; otherwise the zero time.
func (e *Election) failedYield() time.Time {
	if at := e.yields.failed.Load(); at != nil && !e.lock.ledByOtherSince(*at) {
		return *at
	}
	return time.Time{}
}

// standAside releases the lease after a yield, and waits until another process has led, but no longer than the lease
// duration. It does not wait if the lease can't be released.
func (e *Election) standAside(ctx context.Context) {
	at, duration := e.lock.now(), e.settings.LeaseDuration.Duration
	if !e.release(ctx) {
		return
	}
	e.yields.last.Store(&at)
	klog.FromContext(ctx).Info("Gave the lease back so that another process leads, standing by", "lease",
		e.lock.Describe(), "atMost", duration)
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	// The end of the context is no error: it ends the waiting.
	otherLed := func(ctx context.Context) (bool, error) {
		_, _, _ = e.lock.Get(ctx) // the lock notes who leads; the elector reports an error that lasts
		return e.lock.ledByOtherSince(at), nil
	}
	_ = wait.PollUntilContextCancel(ctx, e.settings.RetryPeriod.Duration, false, otherLed)
}

// noteFailedYield notes, at the beginning of a term, whether the last yield has failed.
func (e *Election) noteFailedYield(ctx context.Context) {
	last, duration := e.yields.last.Load(), e.settings.LeaseDuration.Duration
	if last == nil || last == e.yields.failed.Load() || e.lock.ledByOtherSince(*last) {
		return
	}
	e.yields.failed.Store(last)
	e.yields.failures.Add(1)
	klog.FromContext(ctx).Info("No other process took the lease: leading on", "lease", e.lock.Describe(), "givenBack",
		last.UTC().Format(time.RFC3339), "waited", duration, "yieldsAgainAfter", yieldInterval*duration)
}

// Register registers the metric of failed yields; nil registers none.
func (e *Election) Register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	err := r.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "taint_manager_failed_yields_total",
		Help: "How often this process gave the lease back so that another one evicts its pod, no other process took the lease for its duration, and this process led on.",
	}, func() float64 { return float64(e.yields.failures.Load()) }))
	if err != nil {
		return fmt.Errorf("registering the metric of failed yields: %w", err)
	}
	return nil
}
