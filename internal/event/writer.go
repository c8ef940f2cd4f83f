package event

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	retryAfter    = time.Second      // before the second try
	maxRetryAfter = 10 * time.Second // when the server asks for a longer wait
	politeness    = 200 * time.Millisecond
)

// writeNotes starts writes as the order permits, until ctx has ended and no note waits, or writing has ended. It
// returns when the writes have ended.
func (q *Queue) writeNotes(ctx, writing context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ended := ctx.Done(); writing.Err() == nil; {
		wake, empty := q.startWrites(ctx, func(w *write, delay time.Duration) {
			group.Go(func() { q.write(ctx, writing, w, delay) })
		})
		if empty && ctx.Err() != nil {
			return
		}
		timer.Stop()
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case <-q.changed:
		case <-timer.C:
		case <-writing.Done():
		case <-ended:
			ended = nil
		}
	}
}

// startWrites starts all writes that may start now, also those of summaries that are due, or that are left when ctx
// has ended. While evictions are under way writes begin a moment later, so that the API server serves the evictions
// first, unless half the queue is full. It returns when to call it again, zero if a change decides that, and whether no
// note waits.
func (q *Queue) startWrites(
	ctx context.Context, begin func(w *write, delay time.Duration),
) (wake time.Time, empty bool) {
	delay := time.Duration(0)
	if q.busy() {
		delay = politeness
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.order.waiting > q.order.capacity/2 {
		delay = 0
	}
	now := time.Now()
	for {
		q.summarize(now, ctx.Err() != nil)
		w := q.order.next(now, delay)
		if w == nil {
			break
		}
		begin(w, delay)
	}
	wake = q.order.wake()
	if q.summaries.After(now) && (wake.IsZero() || q.summaries.Before(wake)) {
		wake = q.summaries
	}
	return wake, q.order.waiting+len(q.dropped)+len(q.due) == 0
}

// write carries a write out, after the delay unless ctx ends before.
func (q *Queue) write(ctx, writing context.Context, w *write, delay time.Duration) {
	if delay > 0 {
		pause(ctx, delay)
	}
	reason := q.send(writing, render(w.note, q.serial.Add(1)))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.order.end(w, reason == droppedFailed || reason == droppedTimeout, time.Now())
	q.signal()
}

// send writes an event, with a second try unless the first has timed out. It counts the result, and returns why the
// event was dropped; empty if it was written.
func (q *Queue) send(ctx context.Context, event *v1.Event) (reason string) {
	hung, err := q.attempt(ctx, event)
	if err != nil && !hung && !refused(err) && pause(ctx, wait(err)) {
		hung, err = q.attempt(ctx, event)
		if apierrors.IsAlreadyExists(err) {
			err = nil // the first try was carried out, and its answer lost
		}
	}
	switch {
	case err == nil:
		q.metrics.written.Inc()
		return ""
	case refused(err):
		reason = droppedRefused
	case ctx.Err() != nil:
		reason = droppedShutdown
	case hung:
		reason = droppedTimeout
	default:
		reason = droppedFailed
	}
	q.metrics.drop(reason, 1)
	return reason
}

// attempt also reports whether it has timed out: here, at the API server, or at a webhook, whose timeout is a second at
// least and shows as an internal error.
func (q *Queue) attempt(ctx context.Context, event *v1.Event) (hung bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	begin := time.Now()
	err = q.sink.Create(ctx, event)
	late := ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err)
	webhook := apierrors.IsInternalError(err) && time.Since(begin) >= time.Second
	return err != nil && (late || webhook), err
}

// refused reports whether the server will not take this event at a second try either: no permission, or a
// namespace that is gone or going.
func refused(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTooManyRequests(err)
}

// wait returns how long to wait before the second try: what the server asks for, else about a second.
func wait(err error) time.Duration {
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok && seconds > 0 {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	return retryAfter/2 + rand.N(retryAfter/2)
}

// pause blocks for this time, and reports whether the context has not ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
