package dispatch

import "time"

// leadingPoll is how long no call starts after Leading has returned false.
const leadingPoll = 250 * time.Millisecond

// startCalls starts all calls that may start now, and says when more may.
func (c *Core) startCalls(now time.Time, do *Effects) {
	do.Next = c.own.release(c, now)
	for {
		l, next := c.chooseNext(now, do)
		if l == nil {
			do.Next = sooner(do.Next, next)
			return
		}
		way, _, _ := l.class.way(now)
		c.start(now, l.turns.peek(), way, do)
	}
}

// chooseNext returns the line whose first candidate goes next. If no call may start, next is when time alone may change
// that.
func (c *Core) chooseNext(now time.Time, do *Effects) (l *line, next time.Time) {
	c.places.wanted = false
	if c.standing == 0 || !c.leads || c.paused {
		return nil, time.Time{}
	}
	if c.pace.next.After(now) {
		c.pace.held = c.pace.next
	}
	if until := c.heldUntil(); until.After(now) {
		return nil, until
	}
	if !c.options.Leading() {
		return nil, now.Add(leadingPoll)
	}
	if c.outage.on() {
		do.Probe = c.outage.probe()
		return nil, time.Time{}
	}
	if full, freed := c.full(now); full {
		c.places.wanted = true
		return nil, freed
	}
	return c.choose(now)
}

// heldUntil returns until when no call starts, because of an outage, of a loaded server, or of the limit of all calls.
func (c *Core) heldUntil() time.Time {
	until := later(c.throttled, c.pace.next)
	if c.outage.on() {
		until = later(until, c.outage.until)
	}
	return until
}

// choose returns the line whose turn it is by rule 2 among those that rule 3 and their tokens admit. Otherwise next is
// when the next token comes.
func (c *Core) choose(now time.Time) (best *line, next time.Time) {
	c.refill(now)
	var free, rated *line
	for cl := range c.ready {
		best := &free
		if cl.rated {
			best = &rated
		}
		l := c.first(now, cl)
		if l == nil || *best != nil && !l.before(*best) {
			continue
		}
		if _, rate, until := cl.way(now); rate != "" {
			c.runDry(cl, rate, until)
			continue
		}
		*best = l
	}
	if cl, ok := c.dry.First(); ok {
		next = cl.dryUntil
	}
	if free == nil || rated != nil && rated.byRuleTwo(free) {
		return rated, next
	}
	return free, next
}

// first returns the line of the class whose turn it is among those that rule 3 admits; nil if there is none. At most 3N
// lines are busy.
func (c *Core) first(now time.Time, cl *class) *line {
	best, ok := cl.idle.First()
	if ok && !c.admits(best.namespace) {
		best = nil
	}
	for l := range cl.busy {
		switch {
		case !c.admits(l.namespace):
			c.places.wanted = true
			if c.waitsForShare(l.namespace) {
				l.namespace.heldAt = now
			}
		case best == nil || l.before(best):
			best = l
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
