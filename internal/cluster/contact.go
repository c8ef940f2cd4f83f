package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// responseTimeout is how long a request may wait for a response before it counts as trouble. If its packets are lost, a
// request fails only after many minutes, because dialing is retried.
const responseTimeout = 45 * time.Second

var (
	errNoResponse = errors.New("the API server does not answer")
	errBrokenOff  = errors.New("a list has broken off")
)

// contact records whether the last request for a resource succeeded. A watch that breaks is requested again at once, so
// a request fails soon after the API server has become unavailable. Requests are made one at a time.
type contact struct {
	resource    string
	heard       func() // called for each request that has succeeded
	ifForbidden string // says what a missing permission is needed for; "" if the error says enough

	mu      sync.Mutex
	err     error // nil while requests succeed
	since   time.Time
	away    time.Time // when the API server's last outage ended; zero if it had none
	waits   time.Time // since when a request waits for its response; zero if none does
	partial bool      // the latest list arrives as events of a watch, and is not complete
}

// isList reports whether a request is for a list, which may be streamed.
func isList(o metav1.ListOptions) bool { return !o.Watch || o.SendInitialEvents != nil }

// requested records a request. If the previous streamed list has broken off, it returns an error in place of the next
// one: a reflector repeats a streamed list without a delay, but after an error it requests a plain list, and repeats
// that with a delay.
func (c *contact) requested(ctx context.Context, o metav1.ListOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.partial && o.SendInitialEvents != nil {
		c.partial = false
		c.setTrouble(ctx, errBrokenOff)
		return errBrokenOff
	}
	c.waits = time.Now()
	return nil
}

// endWaiting records that a response has arrived. A late response does not end the trouble: a list or a watch does.
func (c *contact) endWaiting(ctx context.Context) {
	if c.late() {
		c.setTrouble(ctx, errNoResponse)
	}
	c.waits = time.Time{}
}

// late reports whether a response is late, while nothing else is known to be wrong.
func (c *contact) late() bool {
	return c.err == nil && !c.waits.IsZero() && time.Since(c.waits) >= responseTimeout
}

// answered records the result of a request, and returns its error, truncated, because reflectors log it too. A list
// ends the trouble only once it is complete.
func (c *contact) answered(ctx context.Context, o metav1.ListOptions, err error) error {
	err = truncate.Error(err)
	if c.ifForbidden != "" && apierrors.IsForbidden(err) {
		err = fmt.Errorf("%s: %w", c.ifForbidden, err)
	}
	c.mu.Lock()
	c.endWaiting(ctx)
	c.partial = err == nil && o.SendInitialEvents != nil
	if ctx.Err() == nil && !notStreamed(o, err) && (err != nil || !isList(o)) {
		c.setTrouble(ctx, err)
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
	c.partial = false
	c.setTrouble(ctx, nil)
}

// setTrouble records an error, or the end of trouble. It logs the beginning of trouble and its end.
func (c *contact) setTrouble(ctx context.Context, err error) {
	logger := klog.FromContext(ctx)
	if isAway(c.err) && !isAway(err) {
		c.away = time.Now()
	}
	switch {
	case err != nil && c.err == nil:
		if c.since = c.waits; c.since.IsZero() {
			c.since = time.Now()
		}
		logger.Info("The API server can't be watched; trying again", "resource", c.resource, "err", err)
	case err == nil && c.err != nil:
		logger.Info("The API server is watched again", "resource", c.resource, "after", time.Since(c.since))
	}
	c.err = err
}

// outageUntil returns the end of the last outage: now while the API server does not answer; zero if it always has.
func (c *contact) outageUntil() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isAway(c.err) || c.late() {
		return time.Now()
	}
	return c.away
}

// isAway reports whether an error shows that the API server does not answer, or fails.
func isAway(err error) bool {
	var status apierrors.APIStatus
	return err != nil && (!errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError)
}

// notStreamed reports whether the error shows that the server does not support streamed lists. The reflector then
// requests a plain list.
func notStreamed(o metav1.ListOptions, err error) bool {
	return o.SendInitialEvents != nil && apierrors.IsInvalid(err)
}

// trouble returns nil if the last request succeeded, or if there was none yet. It returns an error while a response is
// late.
func (c *contact) trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err, since := c.err, c.since
	if c.late() {
		err, since = errNoResponse, c.waits
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("watching %s for %s without success: %w", c.resource, time.Since(since).Round(time.Second), err)
}
