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

// unanswered is how long a request may be without a response before it counts as trouble. If its packets are lost, a
// request fails only after many minutes, because dialing is retried.
const unanswered = 45 * time.Second

var (
	errUnanswered = errors.New("the API server does not answer")
	errBrokenOff  = errors.New("a list has broken off")
)

// contact records whether the last request for a resource succeeded. A watch that breaks is requested again at once, so
// a request fails soon after the API server has become unavailable. Requests are made one at a time.
type contact struct {
	what  string
	heard func()

	mu      sync.Mutex
	err     error
	since   time.Time
	listing bool        // the current request is for a list, or for a part of one
	timer   *time.Timer // of the current request; nil once the response has begun
	relist  relist
}

// ask makes a request, and records it in the contact.
func ask[T any](
	ctx context.Context, c *contact, o metav1.ListOptions, request func(context.Context, metav1.ListOptions) (T, error),
) (T, error) {
	if err := c.begin(ctx, o); err != nil {
		var none T
		return none, err
	}
	answer, err := request(ctx, o)
	return answer, c.note(ctx, o, err)
}

// isList reports whether a request is for a list, which may be streamed.
func isList(o metav1.ListOptions) bool { return !o.Watch || o.SendInitialEvents != nil }

// begin blocks until a request may be sent, and records that it is. It returns an error if the context ends first.
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

// pause waits before a list if the previous one was cut off.
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

// granted notes that the response to the current request has begun.
func (c *contact) granted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered()
	c.relist.begun = c.listing
}

// answered ends the wait for a response. The caller holds the lock.
func (c *contact) answered() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// note records the result of a request, and returns its error, truncated, because reflectors log it too.
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

// listed notes that a list is complete: only then is the cache up to date.
func (c *contact) listed(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relist.completed()
	c.turn(klog.FromContext(ctx), nil, 0)
}

// turn logs once that trouble has begun or ended. already is how long the error has existed. The caller holds the lock.
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

// reset forgets all requests.
func (c *contact) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered()
	c.err, c.relist = nil, relist{}
}

// notStreamed reports whether the error shows that the server does not support streamed lists. The reflector then
// requests a plain list.
func notStreamed(o metav1.ListOptions, err error) bool {
	return o.SendInitialEvents != nil && apierrors.IsInvalid(err)
}

// trouble returns nil if the last request succeeded, or if there was none yet.
func (c *contact) trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("watching %s for %s without success: %w",
		c.what, time.Since(c.since).Round(time.Second), c.err)
}

// clockUntil is the real clock, except that After ends with the context: between attempts to stream a list, a reflector
// waits for up to a minute and ignores its context.
type clockUntil struct {
	clock.RealClock
	ctx context.Context
}

// After returns a channel that receives the time after d, or when the context ends.
func (c clockUntil) After(d time.Duration) <-chan time.Time {
	ch := make(chan time.Time, 1)
	ctx, cancel := context.WithTimeout(c.ctx, d)
	context.AfterFunc(ctx, func() {
		cancel()
		ch <- time.Now()
	})
	return ch
}
