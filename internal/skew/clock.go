// Package skew measures how far this process's clock is ahead of the API server's, from the Date header of its
// successful responses.
//
// An [Interval] bounds what the API server's clock shows; it is pure. A [Clock] updates one from the responses to a
// client whose transport [Clock.RoundTripper] wraps. Pass [Clock.Ahead] as Options.Ahead of the manager. The manager
// then reduces ages that it computes from API timestamps, so that a clock that is ahead makes no eviction earlier.
package skew

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Clock measures how far this process's clock is ahead, from the responses of the API server. It is safe for concurrent
// use.
type Clock struct {
	mu       sync.Mutex
	interval Interval
	searches sync.WaitGroup
}

// New returns a clock that has read no response.
func New() *Clock { return &Clock{} }

// Ahead returns by how much this process's wall clock is ahead now, at least and at most; see [Interval.Ahead]. It
// waits for the end of a search.
func (c *Clock) Ahead(now time.Time) (least, most time.Duration) {
	c.searches.Wait()
	return c.measured().Ahead(now)
}

// Tolerance is by how much clocks may differ without a warning.
const Tolerance = 2 * time.Second

// Trouble returns an error while this process's clock is more than Tolerance ahead of or behind the API server's.
func (c *Clock) Trouble(now time.Time) error {
	least, most := c.measured().Ahead(now)
	switch {
	case most > Tolerance:
		return fmt.Errorf("this process's clock is ahead of the API server's by %v to %v: ages taken from timestamps are shortened by that; synchronize the clocks",
			shown(max(least, 0)), shown(most))
	case least < -Tolerance && most < 0:
		return fmt.Errorf("this process's clock is behind the API server's by %v to %v: evictions that count from timestamps come later by that; synchronize the clocks",
			shown(-most), shown(-least))
	}
	return nil
}

func shown(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

func (c *Clock) measured() Interval {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interval
}

// answered reads the Date header of a response.
func (c *Clock) answered(header http.Header, sent, received time.Time) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interval = c.interval.Answered(date, sent, received)
}

const (
	precision = 100 * time.Millisecond
	every     = 50 * time.Millisecond
	longest   = 2 * time.Second
)

// Search sends a request every 50 ms until the difference of the clocks is known to 100 ms, for 2 s at most. It does so
// in a goroutine of its own, and must be called before Ahead. The Date header has whole seconds, so the two responses
// around the turn of a second tell most. The request must go through [Clock.RoundTripper], and end with its context.
func (c *Clock) Search(ctx context.Context, request func(context.Context)) {
	c.searches.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			request(ctx)
			if measured := c.measured(); measured.Measured() && measured.width() <= precision {
				cancel()
			}
		}, every)
	})
}

// observer is a RoundTripper that reads the Date header of successful responses.
type observer struct {
	http.RoundTripper

	clock *Clock
}

// RoundTripper returns next, wrapped so that the clock reads the Date header of its successful responses. It is for
// [k8s.io/client-go/rest.Config.Wrap].
func (c *Clock) RoundTripper(next http.RoundTripper) http.RoundTripper { return observer{next, c} }

// RoundTrip forwards the request. An error may come from a load balancer, whose clock does not matter.
func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := o.RoundTripper.RoundTrip(r)
	if err == nil && answer.StatusCode < http.StatusMultipleChoices {
		o.clock.answered(answer.Header, sent, time.Now())
	}
	return answer, err
}

// WrappedRoundTripper returns the wrapped RoundTripper; client-go calls it.
func (o observer) WrappedRoundTripper() http.RoundTripper { return o.RoundTripper }

// Register registers the metric of how far the process's clock may be ahead.
func (c *Clock) Register(r prometheus.Registerer) error {
	err := r.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "taint_manager_clock_ahead_seconds",
		Help: "By how much the clock of this process may be ahead of the API server's at most; negative where it is behind, and NaN while that is not known. Ages taken from timestamps are shortened by it while it is positive.",
	}, func() float64 { return c.aheadSeconds(time.Now()) }))
	if err != nil {
		return fmt.Errorf("registering metrics of the clock: %w", err)
	}
	return nil
}

func (c *Clock) aheadSeconds(now time.Time) float64 {
	measured := c.measured()
	if !measured.Measured() {
		return math.NaN()
	}
	_, most := measured.Ahead(now)
	return most.Seconds()
}
