package sim

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/taint-manager/taint-manager/test/faketime"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// epoch returns the true time at which worlds begin; moments count from it.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

type event struct {
	at time.Duration
	do func()
}

// loop runs events one after the other, in simulated time.
type loop struct {
	time   time.Duration
	ran    int     // number of events so far
	events []event // by moment; those of one moment in the order in which they were scheduled
}

// now returns the true time.
func (l *loop) now() time.Duration { return l.time }

// at schedules a function for a moment, or for now if that has passed.
func (l *loop) at(moment time.Duration, do func()) {
	moment = max(moment, l.time)
	i := sort.Search(len(l.events), func(i int) bool { return l.events[i].at > moment })
	l.events = slices.Insert(l.events, i, event{moment, do})
}

func (l *loop) after(d time.Duration, do func()) { l.at(l.time+d, do) }

// step runs the next event up to a moment. It returns false if there is none.
func (l *loop) step(until time.Duration) bool {
	if len(l.events) == 0 || l.events[0].at > until {
		return false
	}
	next := l.events[0]
	l.events = l.events[1:]
	l.ran++
	l.time = next.at
	next.do()
	return true
}

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

// drawClocks draws how far clocks are ahead: in every other world not at all, otherwise by little or by much.
func (p *plan) drawClocks(r *rand.Rand) {
	p.ahead = make([]time.Duration, p.replicas)
	if r.IntN(2) == 0 {
		return
	}
	apart := pick(r, 5*time.Second, 3*time.Minute, 3*time.Hour)
	p.serverAhead = span(r, -apart, apart)
	for i := range p.ahead {
		if p.ahead[i] = p.serverAhead; r.IntN(3) > 0 {
			p.ahead[i] += span(r, -apart, apart)
		}
	}
}
