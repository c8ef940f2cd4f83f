package sim

import (
	"time"

	"github.com/taint-manager/taint-manager/test/faketime"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// epoch returns the true time at which worlds begin; moments count from it.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// clock is the clock of one process: the monotonic clock counts from the start of the process, and the wall clock
// may be wrong and may be set. Both drift alike.
type clock struct {
	began  time.Duration // true moment of the process's start
	offset time.Duration // how far the wall clock is ahead, without the drift
	drift  oracle.Drift
	origin time.Time // the wall time at the start of the process
}

func newClock(now, offset time.Duration, drift oracle.Drift) *clock {
	c := &clock{began: now, offset: offset, drift: drift}
	c.origin = c.at(now)
	return c
}

// at returns what time.Now would return in the process at a true moment.
func (c *clock) at(now time.Duration) time.Time {
	return faketime.Of(epoch().Add(c.drift.Run(now)+c.offset), c.drift.Run(now-c.began))
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

// ahead returns how far the wall clock is ahead of the true time.
func (c *clock) ahead(now time.Duration) time.Duration { return c.offset + c.drift.Of(now) }
