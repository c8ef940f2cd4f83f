package sim

import (
	"math/rand/v2"
	"time"

	"github.com/taint-manager/taint-manager/test/faketime"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// epoch returns the true time at which worlds begin; moments count from it.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// clock is the clock of one process: the monotonic clock counts from the start of the process, and the wall clock
// may be wrong and may be set.
type clock struct {
	ahead  time.Duration // how far the wall clock is ahead of the true time
	began  time.Duration // true moment of the process's start
	origin time.Time     // the wall time at the start of the process
}

func newClock(now, ahead time.Duration) *clock {
	c := &clock{ahead: ahead, began: now}
	c.origin = c.at(now)
	return c
}

// at returns what time.Now would return in the process at a true moment.
func (c *clock) at(now time.Duration) time.Time {
	return faketime.Of(epoch().Add(now+c.ahead), now-c.began)
}

// moment returns the true moment of a time of this process, by its monotonic clock; oracle.Far if that is many years
// away.
func (c *clock) moment(t time.Time) time.Duration {
	if since := t.Sub(c.origin); since < oracle.Far/2 {
		return c.began + since
	}
	return oracle.Far
}

// clocks are how far the wall clocks of a plan are ahead of the true time. Those of the zero value are right.
type clocks struct {
	server   time.Duration
	replicas []time.Duration // nil if all are right
}

// drawClocks draws clocks: in every other world right ones, otherwise clocks that differ by little or by much.
func drawClocks(r *rand.Rand, replicas int) (c clocks) {
	if r.IntN(2) == 0 {
		return c
	}
	apart := pick(r, 5*time.Second, 3*time.Minute, 3*time.Hour)
	c.server = span(r, -apart, apart)
	for range replicas {
		ahead := c.server
		if r.IntN(3) > 0 {
			ahead += span(r, -apart, apart)
		}
		c.replicas = append(c.replicas, ahead)
	}
	return c
}
