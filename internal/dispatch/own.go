package dispatch

import "time"

// When the pods of this program go.
const (
	// ownAfter is how long after its deadline such a pod waits for other pods at most.
	ownAfter = time.Minute

	// ownPatience is how long after its offer such a pod waits at least, so that pods that are due at the same moment
	// are offered before.
	ownPatience = time.Second

	// ownGap is the time between the deletions of two such pods. A process of a deleted pod may still take the lease
	// before it gets its SIGTERM, and would evict the last pod; 15 s is also what it takes to end at most.
	ownGap = 15 * time.Second

	// quietBefore is the time in which nothing else may become due when the leadership is given back: the default of
	// leaseDuration, as nobody leads for that time if no other process takes the lease.
	quietBefore = 15 * time.Second
)

// beforeOwn is the order of the pods of this program. The pod of this process is the last.
func beforeOwn(a, b *item) bool {
	if a.Own != b.Own {
		return a.Own < b.Own
	}
	return before(a, b)
}

// ownOverdue reports whether a pod of this program no longer waits for others.
func (c *Core) ownOverdue(now time.Time) bool {
	it, some := c.own.First()
	return some && !it.Deadline.Add(ownAfter).After(now)
}

// startOwn starts the call of a pod of this program. For the pod of this process it asks for the leadership to be given
// back instead, if that is possible.
func (c *Core) startOwn(now time.Time, do *Effects) (started bool, next time.Time) {
	it, some := c.own.First()
	free, next := c.places.freeSlot(now, c.used(slot))
	if !some || !free || c.countCalls(func(it *item) bool { return it.Own != Other }) > 0 {
		return false, next
	}
	if earliest := later(it.since.Add(ownPatience), c.ownEnded.Add(ownGap)); earliest.After(now) {
		return false, earliest
	}
	if it.Own == Self && c.options.Yields {
		return false, c.yield(now, it.Deadline.Add(ownAfter), do)
	}
	way, rate, until := it.class.way(now)
	if rate != "" {
		c.runDry(it.class, rate, until)
		return false, until
	}
	c.leave(it)
	c.start(now, it, way, slot, do)
	return true, time.Time{}
}

// yield asks for the leadership to be given back once nothing else is to be done, at the latest at that moment, and not
// more often than once in ownAfter. It returns when to ask next.
func (c *Core) yield(now, latest time.Time, do *Effects) time.Time {
	switch {
	case c.yieldNotBefore.After(now):
		return c.yieldNotBefore
	case !latest.After(now):
	case c.waiting-c.own.Len()+len(c.calls) > 0:
		return latest
	default:
		if upcoming := c.options.Upcoming(); !upcoming.IsZero() && upcoming.Before(now.Add(quietBefore)) {
			return sooner(latest, later(upcoming, now.Add(ownPatience)))
		}
	}
	do.Yield = true
	c.yieldNotBefore = now.Add(ownAfter)
	return c.yieldNotBefore
}
