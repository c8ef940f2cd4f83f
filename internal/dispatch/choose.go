package dispatch

import (
	"slices"
	"time"
)

// leadingPoll is how long no call starts after Leading has denied.
const leadingPoll = 250 * time.Millisecond

// startCalls starts all calls that may start now, and says when more may.
func (c *Core) startCalls(now time.Time, do *Effects) {
	for {
		started, next := c.startNext(now, do)
		if !started {
			do.Next = sooner(next, c.nextChange())
			return
		}
	}
}

// nextChange returns when a call next becomes slow, or a speed changes by time alone; zero if neither does.
func (c *Core) nextChange() (next time.Time) {
	if i := slices.IndexFunc(c.calls, func(it *item) bool { return !it.slow }); i >= 0 {
		next = c.calls[i].started.Add(SlowAfter)
	}
	if w, ok := c.expiries.First(); ok {
		next = sooner(next, w.until)
	}
	return next
}

// startNext starts the call of the candidate whose turn it is. If no call may start, next is when that may change by
// time alone.
func (c *Core) startNext(now time.Time, do *Effects) (started bool, next time.Time) {
	if c.waiting == 0 || !c.leads || c.paused || c.outage.probing {
		return false, time.Time{}
	}
	if c.pace.next.After(now) {
		c.pace.held = c.pace.next
	}
	if until := c.heldUntil(); until.After(now) {
		return false, until
	}
	if !c.options.Leading() {
		return false, now.Add(leadingPoll)
	}
	if c.ownOverdue(now) {
		if started, _ = c.startOwn(now, do); started {
			return true, time.Time{}
		}
	}
	first, next := c.choose(now)
	if l := first.line; l != nil {
		it := l.first(first.door).next()
		way, _, _ := l.class.way(now)
		l.served = c.nextSerial()
		c.left(it)
		c.start(now, it, way, first.door.place(), do)
		return true, time.Time{}
	}
	started, nextOwn := c.startOwn(now, do)
	return started, sooner(next, nextOwn)
}

// heldUntil returns until when no call starts, because of an outage, of a loaded server, or of the limit of all calls.
func (c *Core) heldUntil() time.Time {
	until := later(c.throttled, c.pace.next)
	if c.outage.on() {
		until = later(until, c.outage.until)
	}
	return until
}

// choice is a line, and the door through which its next candidate goes.
type choice struct {
	line *line
	door door
}

// before reports whether it is the turn of this choice before that of the other choice. If both wait for rates, all
// calls of their namespaces count; otherwise only the calls in the kinds of places that the doors lead to count.
func (c choice) before(b choice) bool {
	m, n := c.line.namespace, b.line.namespace
	i, j := m.calls[c.door.place()], n.calls[b.door.place()]
	if c.line.class.rated && b.line.class.rated {
		i, j = m.allCalls(), n.allCalls()
	}
	switch {
	case i != j:
		return i < j
	case m != n:
		return m.served < n.served
	case c.line != b.line:
		return c.line.served < b.line.served
	}
	return c.door < b.door
}

// choose returns the line whose turn it is among those whose place is free and whose rates have tokens. Otherwise next
// is when that may change by time alone.
func (c *Core) choose(now time.Time) (best choice, next time.Time) {
	open, next := c.openDoors(now)
	c.refill(now)
	var free, rated choice
	for cl := range c.ready {
		best := &free
		if cl.rated {
			best = &rated
		}
		first := cl.first(open)
		if first.line == nil || best.line != nil && !first.before(*best) {
			continue
		}
		if _, rate, until := cl.way(now); rate != "" {
			c.runDry(cl, rate, until)
			continue
		}
		*best = first
	}
	if cl, ok := c.dry.First(); ok {
		next = sooner(next, cl.dryUntil)
	}
	if free.line == nil || rated.line != nil && rated.before(free) {
		return rated, next
	}
	return free, next
}

// openDoors returns which doors are open now, and when the next one opens by time alone.
func (c *Core) openDoors(now time.Time) (open [doors]bool, next time.Time) {
	open[toSlot], next = c.places.freeSlot(now, c.used(slot))
	ofSlow := c.countCalls(func(it *item) bool { return it.kind == slot && it.workload.namespace.speed() == slow })
	open[toSlotOfSlow] = open[toSlot] && ofSlow < c.places.forSlow()
	slowPlaceIsFree, slowNext := c.places.freeSlowPlace(now, c.used(slowPlace))
	open[toSlowPlace] = slowPlaceIsFree
	return open, sooner(next, slowNext)
}

// first returns the line of the class whose turn it is, among those that may use one of the open doors.
func (cl *class) first(open [doors]bool) (best choice) {
	for d := range doors {
		if !open[d] {
			continue
		}
		if l, ok := cl.doors[d].First(); ok && (best.line == nil || (choice{l, d}).before(best)) {
			best = choice{l, d}
		}
	}
	return best
}

// sooner returns the earlier of two moments; zero stands for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
