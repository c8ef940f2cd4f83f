package event

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	retryAfter    = time.Second      // before the second try
	maxRetryAfter = 10 * time.Second // when the server asks for a longer wait
	politeness    = 200 * time.Millisecond
)

// write sends queued notes, one after the other, until ctx has ended and none is left, or writing has
// ended.
func (q *Queue) write(ctx, writing context.Context) {
	for writing.Err() == nil {
		e, ok := q.next(ctx)
		if !ok {
			return
		}
		q.yield(ctx)
		q.send(writing, render(e, q.serial.Add(1)))
	}
}

// next returns the next note; it reports false once ctx has ended and none is left.
func (q *Queue) next(ctx context.Context) (*queuedNote, bool) {
	select {
	case e := <-q.notes:
		return e, true
	default:
	}
	select {
	case e := <-q.notes:
		return e, true
	case <-ctx.Done():
		return nil, false
	}
}

// yield pauses for a moment if evictions are under way and the queue has room, so that the API server serves them
// first.
func (q *Queue) yield(ctx context.Context) {
	if len(q.notes) < cap(q.notes)/2 && q.busy() {
		pause(ctx, politeness)
	}
}

// send writes an event, with one second try.
func (q *Queue) send(ctx context.Context, event *v1.Event) {
	err := q.attempt(ctx, event)
	if err != nil && !refused(err) && pause(ctx, wait(err)) {
		err = q.attempt(ctx, event)
		if apierrors.IsAlreadyExists(err) {
			err = nil // the first try was carried out, and its answer lost
		}
	}
	switch {
	case err == nil:
		q.metrics.written.Inc()
	case refused(err):
		q.metrics.drop(droppedRefused, 1)
	case ctx.Err() != nil:
		q.metrics.drop(droppedShutdown, 1)
	default:
		q.metrics.drop(droppedFailed, 1)
	}
}

func (q *Queue) attempt(ctx context.Context, event *v1.Event) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return q.sink.Create(ctx, event)
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
