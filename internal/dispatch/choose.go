package dispatch

import (
	"cmp"
	"time"
)

// leadingPoll is the time between two calls of Leading while it returns false.
const leadingPoll = 250 * time.Millisecond

// startCalls starts all calls that may start now, and sets when more may start.
func (c *Core) startCalls(now time.Time, effects *Effects) {
	effects.Next = c.own.release(c, now)
	for {
		q, next := c.chooseNext(now, effects)
		if q == nil {
			effects.Next = sooner(effects.Next, next)
			return
		}
		request, _, _ := q.tokenSet.firstWithTokens(now)
		c.start(now, q.nodes.peek(), request, effects)
	}
}

// chooseNext returns the queue whose first candidate gets the next call; nil if no call may start. next is when a call
// may start if nothing else happens.
func (c *Core) chooseNext(now time.Time, effects *Effects) (q *queue, next time.Time) {
	if c.places.wanted {
		c.places.wanted, c.places.calmAt = false, now.Add(slowAfter)
	}
	if c.queued == 0 || !c.leads || c.paused {
		return nil, time.Time{}
	}
	if c.pace.next.After(now) {
		c.pace.held = c.pace.next
	}
	if until := c.earliestCall(); until.After(now) {
		return nil, until
	}
	if !c.options.Leading() {
		return nil, now.Add(leadingPoll)
	}
	if c.outage.on() {
		effects.Probe = c.outage.probe()
		return nil, time.Time{}
	}
	if full, freed := c.full(now); full {
		c.places.wanted = true
		return nil, freed
	}
	return c.choose(now)
}

// earliestCall returns when calls may start again, given an outage, a server that throttles, and the rate limit of all
// calls.
func (c *Core) earliestCall() time.Time {
	until := later(c.throttled, c.pace.next)
	if c.outage.on() {
		until = later(until, c.outage.until)
	}
	return until
}

// choose returns the next queue by rule 2 of the package comment, among those that rule 3 and their tokens admit; nil
// if there is none. next is when the next token comes.
func (c *Core) choose(now time.Time) (best *queue, next time.Time) {
	c.refill(now)
	var free, rated *queue
	for set := range c.ready {
		slot := &free
		if set.rated {
			slot = &rated
		}
		q := c.first(now, set)
		if q == nil || *slot != nil && !q.turn.before(&(*slot).turn) {
			continue
		}
		if _, rate, until := set.firstWithTokens(now); rate != "" {
			c.waitForTokens(set, rate, until)
			continue
		}
		*slot = q
	}
	if set, ok := c.waitingForTokens.First(); ok {
		next = set.waitUntil
	}
	if free == nil || rated == nil {
		return cmp.Or(free, rated), next
	}
	if first, second := rated.byRuleTwo(), free.byRuleTwo(); first.before(&second) {
		return rated, next
	}
	return free, next
}

// first returns the next of the set's queues (all need the same tokens) that rule 3 admits; nil if there is none. The
// search is short: rule 3 rejects only namespaces that have calls, at most 3N.
func (c *Core) first(now time.Time, set *tokenSet) *queue {
	for {
		q, ok := set.queues.FirstOf(func(q *queue) bool { return c.admitsNow(now, q.namespace) })
		if !ok || !set.rated || !q.place() {
			return q
		}
	}
}

// admitsNow returns what [Core.admits] returns. If that is false, it records that a candidate waits for a place.
func (c *Core) admitsNow(now time.Time, n *namespace) bool {
	if c.admits(n) {
		return true
	}
	c.places.wanted = true
	if c.waitsForShare(n) {
		n.heldAt = now
	}
	return false
}

// sooner returns the earlier of two moments; zero means never.
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
