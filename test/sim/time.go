package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/test/faketime"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// event is a function to run at a moment.
type event struct {
	at time.Duration
	do func()
}

// loop runs events one after the other, in simulated time.
type loop struct {
	time   time.Duration
	ran    int     // events so far
	events []event // by their times; those of one moment in the order in which they were scheduled
}

// now returns the true time.
func (l *loop) now() time.Duration { return l.time }

// at schedules a function for a moment, or for now if that has passed.
func (l *loop) at(moment time.Duration, do func()) {
	e := event{max(moment, l.time), do}
	i, _ := slices.BinarySearchFunc(l.events, e, func(other, e event) int {
		if other.at <= e.at {
			return -1
		}
		return 1
	})
	l.events = slices.Insert(l.events, i, e)
}

// after schedules a function for later.
func (l *loop) after(d time.Duration, do func()) { l.at(l.time+d, do) }

// step runs the next event up to a moment. It returns false if there is none.
func (l *loop) step(until time.Duration) bool {
	if len(l.events) == 0 || l.events[0].at > until {
		return false
	}
	next := l.events[0]
	l.events = slices.Delete(l.events, 0, 1)
	l.time = next.at
	l.ran++
	next.do()
	return true
}

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

// clocks are how far the wall clocks of a plan are ahead of the true time.
type clocks struct {
	server   time.Duration
	replicas []time.Duration
}

// draw draws clocks that differ by little or by much.
func (c *clocks) draw(r *rand.Rand) {
	apart := pick(r, 5*time.Second, 3*time.Minute, 3*time.Hour)
	c.server = span(r, -apart, apart)
	for i := range c.replicas {
		c.replicas[i] = c.server + pick(r, 0, span(r, -apart, apart), span(r, -apart, apart))
	}
}
