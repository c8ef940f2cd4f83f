package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// unanswered is how long a request may be without an answer until that is trouble. A request whose packets
// vanish fails after many minutes only, as dialing is tried again.
const unanswered = 45 * time.Second

var (
	errUnanswered = errors.New("the API server does not answer")
	errBrokenOff  = errors.New("a list has broken off")
)

// contact knows whether the last request for a resource succeeded. A stream that breaks is asked for
// anew at once, so a request fails soon after the API server is away. Requests are made one at a time.
type contact struct {
	what  string
	heard func()

	mu      sync.Mutex
	err     error
	since   time.Time
	listing bool        // the present request is for a list, or for a part of one
	timer   *time.Timer // of the present request; nil when it is answered
	relist  relist
}

// ask makes a request, and lets the contact take note of it.
func ask[T any](ctx context.Context, c *contact, o metav1.ListOptions, request func(context.Context, metav1.ListOptions) (T, error)) (T, error) {
	if err := c.begin(ctx, o); err != nil {
		var none T
		return none, err
	}
	answer, err := request(ctx, o)
	return answer, c.note(ctx, o, err)
}

// isList reports whether a request is for a list, which may be streamed.
func isList(o metav1.ListOptions) bool { return !o.Watch || o.SendInitialEvents != nil }

// begin blocks until a request may be sent, and takes note that it is. It fails when the context ends first.
func (c *contact) begin(ctx context.Context, o metav1.ListOptions) error {
	if isList(o) && o.Continue == "" {
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listing = isList(o)
	c.answered()
	var timer *time.Timer
	timer = time.AfterFunc(unanswered, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.timer == timer {
			c.turn(klog.FromContext(ctx), errUnanswered, unanswered)
		}
	})
	c.timer = timer
	return nil
}

// pause waits before a list, where the one before has broken off.
func (c *contact) pause(ctx context.Context) error {
	c.mu.Lock()
	pause := c.relist.pause()
	if pause > 0 && c.err == nil {
		c.turn(klog.FromContext(ctx), errBrokenOff, 0)
	}
	c.mu.Unlock()
	if pause == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// granted notes that the answer to the present request has begun.
func (c *contact) granted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered()
	c.relist.begun = c.listing
}

// answered ends the wait for an answer. The lock is held.
func (c *contact) answered() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// note takes note of how a request went, and returns its error, which it cuts: reflectors log it, too.
func (c *contact) note(ctx context.Context, o metav1.ListOptions, err error) error {
	err = truncate.Error(err)
	c.mu.Lock()
	c.answered()
	if ctx.Err() == nil && !notStreamed(o, err) && (err != nil || !isList(o)) {
		c.turn(klog.FromContext(ctx), err, 0)
	}
	c.mu.Unlock()
	if ctx.Err() == nil && err == nil {
		c.heard()
	}
	return err
}

// listed notes that a list has come to its end: only then is what is kept up to date.
func (c *contact) listed(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relist.completed()
	c.turn(klog.FromContext(ctx), nil, 0)
}

// turn logs a change for the worse or the better, once. The error has been true for some time. The lock is
// held.
func (c *contact) turn(logger klog.Logger, err error, already time.Duration) {
	switch {
	case err != nil && c.err == nil:
		c.since = time.Now().Add(-already)
		logger.Info("The API server can't be watched; trying again", "resource", c.what, "err", err)
	case err == nil && c.err != nil:
		logger.Info("The API server is watched again", "resource", c.what, "after", time.Since(c.since))
	}
	c.err = err
}

// notStreamed says that the server is one that does not know streamed lists. The reflector then asks
// for a plain one.
func notStreamed(o metav1.ListOptions, err error) bool {
	return o.SendInitialEvents != nil && apierrors.IsInvalid(err)
}

// trouble is nil when the last request succeeded, or when there was none yet.
func (c *contact) trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("watching %s for %s without success: %w",
		c.what, time.Since(c.since).Round(time.Second), c.err)
}

// clockUntil is the real clock, but After does not outlast the context: a reflector waits by it,
// without regard for its context, between tries to stream a list, for up to a minute.
type clockUntil struct {
	clock.RealClock
	ctx context.Context
}

// After returns a channel that gets the time after d, or when the context ends.
func (c clockUntil) After(d time.Duration) <-chan time.Time {
	ch := make(chan time.Time, 1)
	ctx, cancel := context.WithTimeout(c.ctx, d)
	context.AfterFunc(ctx, func() {
		cancel()
		ch <- time.Now()
	})
	return ch
}
