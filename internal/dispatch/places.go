package dispatch

import (
	"slices"
	"time"
)

// slowAfter is how long a call counts among the N of rule 1 of the package comment.
const slowAfter = time.Second

// After a time without calls, places open step by step: rampFirst at once, and one more after each rampStep. Pods that
// are due at the same instant are offered one after another: without this ramp, the namespace offered first could fill
// all N places, and delay all others by slowAfter.
const (
	rampFirst = 4
	rampStep  = 4 * time.Millisecond
)

// places limits the calls in flight by rules 1 and 3 of the package comment.
type places struct {
	n      int
	ramp   time.Time // start of the first call after a time without calls
	wanted bool      // a candidate waits only because of rule 1 or 3
	calmAt time.Time // a second after a candidate last waited so
}

// wantedAt reports whether a candidate waits only because of rule 1 or 3, or did within the last second: a burst has
// moments in which no candidate waits.
func (p places) wantedAt(now time.Time) bool { return p.wanted || p.calmAt.After(now) }

// all returns how many calls may be in flight: 3N.
func (p places) all() int { return 3 * p.n }

// full reports whether rule 1, or the ramp, admits no call now. freed is when time alone changes that; zero if it does
// not.
func (c *Core) full(now time.Time) (full bool, freed time.Time) {
	old := c.old(now)
	switch {
	case len(c.calls) >= c.places.all():
		return true, time.Time{}
	case len(c.calls)-old >= c.places.n:
		return true, c.calls[len(c.calls)-c.places.n].started.Add(slowAfter)
	case len(c.calls) >= rampFirst:
		opens := c.places.ramp.Add(time.Duration(len(c.calls)-rampFirst+1) * rampStep)
		return opens.After(now), opens
	}
	return false, time.Time{}
}

// old returns how many calls have been in flight for a second or longer. These come first in Core.calls.
func (c *Core) old(now time.Time) int {
	first := slices.IndexFunc(c.calls, func(e *entry) bool { return e.started.Add(slowAfter).After(now) })
	if first < 0 {
		return len(c.calls)
	}
	return first
}

// admits reports whether rule 3 admits a further call of the namespace.
func (c *Core) admits(n *namespace) bool { return 2*n.calls < c.places.all()-len(c.calls) }

// waitsForShare reports whether the namespace has used its half of the free places while others have calls in flight,
// too. If only one namespace has calls in flight, it waits for a place, not for its share.
func (c *Core) waitsForShare(n *namespace) bool {
	return n.calls < len(c.calls) && len(c.calls) < c.places.all() && !c.admits(n)
}
