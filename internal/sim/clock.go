package sim

import (
	"time"
	"unsafe"

	"github.com/taint-manager/taint-manager/internal/sim/oracle"
)

// epoch is the true moment zero. Worlds count from it.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// clock is that of one process: the monotonic clock counts from the start of the process, and the wall
// clock may be wrong and may be set.
type clock struct {
	began  time.Duration // true moment of the process's start
	offset time.Duration // by how much the wall clock is ahead
	origin time.Time     // what it read when the process began
}

func newClock(now, offset time.Duration) *clock {
	c := &clock{began: now, offset: offset}
	c.origin = c.at(now)
	return c
}

// at is what the program reads at a true moment: what time.Now would return.
func (c *clock) at(now time.Duration) time.Time {
	return reading(epoch().Add(now+c.offset), now-c.began)
}

// moment is the true moment that a time of this process stands for, by its monotonic clock; oracle.Far for
// one that is many years away.
func (c *clock) moment(t time.Time) time.Duration {
	if since := t.Sub(c.origin); since < oracle.Far/2 {
		return c.began + since
	}
	return oracle.Far
}

// reading is a time that carries both a wall clock and a monotonic clock, as time.Now returns it. There
// is no other way to make one in which the two differ, and the program's handling of exactly that is what
// is to be simulated. A test holds that package time still lays times out like this.
func reading(wall time.Time, monotonic time.Duration) time.Time {
	const (
		hasMonotonic = 1 << 63
		shift        = 30
		year1885     = -2682288000 // as Unix time
	)
	t := struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}{wall: hasMonotonic | uint64(wall.Unix()-year1885)<<shift | uint64(wall.Nanosecond()), ext: int64(monotonic)}
	return *(*time.Time)(unsafe.Pointer(&t))
}
