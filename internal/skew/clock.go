package skew

import (
	"fmt"
	"sync"
	"time"
)

// enough is how many responses are read: the first ones.
const enough = 64

// Clock measures how far this process's clock is ahead, from the first responses of the API server. It is safe for
// concurrent use.
type Clock struct {
	mu       sync.Mutex
	interval Interval
	answers  int
}

// New returns a clock that has read no response.
func New() *Clock { return &Clock{} }

// Ahead returns by how much ages that are computed now from times of the API must be shortened; see [Interval.Excess].
func (c *Clock) Ahead(now time.Time) time.Duration { return c.measured().Excess(now) }

// Trouble returns an error while this process's clock may be more than Tolerance ahead of or behind the API server's.
func (c *Clock) Trouble(now time.Time) error {
	least, most := c.measured().Ahead(now)
	switch {
	case most > Tolerance:
		return fmt.Errorf("this process's clock is ahead of the API server's by %v to %v: ages taken from timestamps are shortened by that; set the clocks",
			shown(max(least, 0)), shown(most))
	case least < -Tolerance && most < 0:
		return fmt.Errorf("this process's clock is behind the API server's by %v to %v: evictions that count from timestamps come later by that; set the clocks",
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

// wanted reports whether more responses are read.
func (c *Clock) wanted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers < enough
}

func (c *Clock) answered(date, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	c.interval = c.interval.Answered(date, sent, received)
}
