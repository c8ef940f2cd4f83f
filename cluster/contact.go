package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// contact knows whether the last request for a resource succeeded. A stream that breaks is asked for
// anew at once, so a request fails soon after the API server is away.
type contact struct {
	what  string
	heard func()

	mu    sync.Mutex
	err   error
	since time.Time
}

// note takes note of how a request went, and returns its error, which it cuts: reflectors log it, too.
func (c *contact) note(ctx context.Context, o metav1.ListOptions, err error) error {
	err = truncate.Error(err)
	if ctx.Err() != nil || notStreamed(o, err) {
		return err
	}
	c.turn(klog.FromContext(ctx), err)
	if err == nil {
		c.heard()
	}
	return err
}

// turn logs a change for the worse or the better, once.
func (c *contact) turn(logger klog.Logger, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && c.err == nil:
		c.since = time.Now()
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
