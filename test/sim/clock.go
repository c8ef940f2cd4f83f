package sim

import (
	"math/rand/v2"
	"time"

	"github.com/taint-manager/taint-manager/test/faketime"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// epoch returns the true time at which worlds begin; moments count from it.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// deviation is how far a wall clock is ahead of the true time: by an offset, and by what it gains.
type deviation struct {
	offset time.Duration
	drift  oracle.Drift
}

// ahead returns how far the wall clock is ahead at a true moment.
func (d *deviation) ahead(now time.Duration) time.Duration { return d.offset + d.drift.Of(now) }

// clock is the clock of one process: the monotonic clock counts from the start of the process, and the wall clock
// may be wrong and may be set. Both drift alike.
type clock struct {
	deviation
	began  time.Duration // true moment of the process's start
	origin time.Time     // the wall time at the start of the process
}

func newClock(now time.Duration, d deviation) *clock {
	c := &clock{deviation: d, began: now}
	c.origin = c.at(now)
	return c
}

// at returns what time.Now would return in the process at a true moment.
func (c *clock) at(now time.Duration) time.Time {
	return faketime.Of(epoch().Add(now+c.ahead(now)), c.drift.Run(now-c.began))
}

// moment returns the true moment of a time of this process, by its monotonic clock; oracle.Far if that is many years
// away.
func (c *clock) moment(t time.Time) time.Duration {
	since := t.Sub(c.origin)
	if since >= oracle.Far/2 {
		return oracle.Far
	}
	passed := since - c.drift.Of(since)
	for c.drift.Run(passed) < since {
		passed++
	}
	return c.began + passed
}

// clocks are the wall clocks of a plan. Those of the zero value are right.
type clocks struct {
	server   deviation
	replicas []deviation // nil if all are right
	drifting bool
}

// drawClocks draws clocks: in every other world right ones, otherwise clocks that differ by little or by much, and
// that may drift.
func drawClocks(r *rand.Rand, replicas int) (c clocks) {
	if r.IntN(2) == 0 {
		return c
	}
	apart := pick(r, 5*time.Second, 3*time.Minute, 3*time.Hour)
	c.server.offset = span(r, -apart, apart)
	for range replicas {
		d := c.server
		if r.IntN(3) > 0 {
			d.offset += span(r, -apart, apart)
		}
		c.replicas = append(c.replicas, d)
	}
	if c.drifting = r.IntN(2) == 0; c.drifting {
		c.server.drift = drift(r)
		for i := range c.replicas {
			c.replicas[i].drift = drift(r)
		}
	}
	return c
}

func drift(r *rand.Rand) oracle.Drift {
	return oracle.Drift(r.Int64N(int64(2*oracle.MaxDrift+1))) - oracle.MaxDrift
}
