package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

// How long all calls wait when the server is loaded.
const (
	DefaultRetryAfter = time.Second // if it does not say for how long
	MaxRetryAfter     = time.Minute // at most, whatever it says
)

// call makes one eviction call and reports its outcome.
func (d *Dispatcher) call(ctx context.Context, r eviction.Request) {
	started := time.Now()
	outcome := complete(d.evict(ctx, r))
	now := time.Now()
	d.metrics.ended(r, outcome, started, now)
	d.step(CallEnded{UID: r.Pod.UID, Outcome: outcome})
	d.options.Ended(r, outcome, now)
}

// evict calls the evictor, if this process leads at this moment.
func (d *Dispatcher) evict(ctx context.Context, e eviction.Request) (o eviction.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = panicked(ctx, e, r)
		}
	}()
	if ctx.Err() != nil || !d.options.Leading() {
		return eviction.Outcome{
			Kind: eviction.Interrupted, NothingDeleted: true,
			Message: "this process does not lead any longer",
		}
	}
	d.options.Started(e)
	return d.options.Evictor.Evict(ctx, e)
}

// complete adds what a caller's own evictor may leave out, and cuts its texts.
func complete(o eviction.Outcome) eviction.Outcome {
	if !o.Kind.Valid() {
		return eviction.Outcome{
			Kind: eviction.Failed, Cause: eviction.CauseUnknown,
			Message: fmt.Sprintf("the evictor returned kind %d", o.Kind),
		}
	}
	o.Cause, o.Message = truncate.Text(o.Cause), truncate.Text(o.Message)
	return bounded(o)
}

// bounded limits the RetryAfter of a throttled call to MaxRetryAfter. If RetryAfter is unset, DefaultRetryAfter counts.
func bounded(o eviction.Outcome) eviction.Outcome {
	if o.Kind == eviction.Throttled {
		o.RetryAfter = min(o.RetryAfter, MaxRetryAfter)
		if o.RetryAfter <= 0 {
			o.RetryAfter = DefaultRetryAfter
		}
	}
	return o
}

func panicked(ctx context.Context, e eviction.Request, r any) eviction.Outcome {
	text := truncate.Text(fmt.Sprintf("the evictor panicked: %v", r))
	klog.FromContext(ctx).Error(errors.New(text), "Evicting a pod failed",
		"pod", klog.KRef(e.Pod.Namespace, e.Pod.Name), "stack", string(debug.Stack()))
	return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CausePanic, Message: text}
}
