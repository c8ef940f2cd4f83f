package dispatch

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// Why all calls pause: a metric's label.
const (
	pauseUnavailable = "unavailable"
	pauseThrottled   = "throttled"
)

// call is the latest call of an entry. While it is in flight, the entry is in Core.calls.
type call struct {
	request   *eviction.Request
	ended     *Ended        // nil while the call is in flight
	waited    eviction.Wait // what the candidate waited for before the call
	started   time.Time
	withdrawn bool    // while it was in flight
	buckets   Buckets // from which it has taken tokens
}

// start starts the call of the next candidate of a queue, with the request at this index.
func (c *Core) start(now time.Time, e *entry, index int, effects *Effects) {
	request := e.Requests[index]
	waited := c.waited(e)
	request.LateBy = c.lateBy(e, waited, request.LateBy)
	q, n := e.queue, e.queue.namespace
	e.call = call{request: &request, waited: waited, started: now, buckets: q.tokenSet.buckets[index]}
	if len(c.calls) == 0 {
		c.places.ramp = now
	}
	n.calls++
	n.served, q.served = c.nextSerial(), c.nextSerial()
	if next := q.nodes.serve(); next != "" {
		effects.Ahead = append(effects.Ahead, next)
	}
	c.remove(e)
	n.place()
	c.calls = append(c.calls, e)
	e.buckets.Take(now)
	c.pace.take(now)
	effects.Starts = append(effects.Starts, request)
}

// lateBy returns what made the candidate late while it waited here; if nothing did, what made it late before.
func (c *Core) lateBy(e *entry, waited eviction.Wait, before eviction.LateBy) eviction.LateBy {
	lasted := func(until time.Time) bool { return until.After(e.since) }
	switch {
	case waited.Cause == eviction.WaitsForRate:
		return eviction.LateByRate
	case lasted(c.resumed):
		return eviction.LateByHold
	case lasted(c.outage.ended), lasted(c.throttled), lasted(c.options.WatchOutageUntil()):
		return eviction.LateByOutage
	case waited.Cause == eviction.WaitsForShare:
		return eviction.LateBySlowCalls
	case before == eviction.LateByNothing && e.Deadline.Before(c.resumed):
		return eviction.LateByHold
	}
	return before
}

// apply frees the call's place, returns its tokens if it deleted nothing, and records what it shows of the API server.
func (in CallEnded) apply(c *Core, now time.Time, _ *Effects) {
	e := c.entries[in.UID]
	i := slices.Index(c.calls, e)
	if i < 0 {
		return
	}
	c.calls = slices.Delete(c.calls, i, i+1)
	e.ended = &Ended{*e.request, in.Outcome}
	n := c.namespaces[e.Namespace]
	n.calls--
	n.place()
	c.forgetIdle(n)
	if !in.Outcome.MayHaveDeleted() && in.Outcome.Kind != eviction.DryRun {
		c.giveBack(now, e.buckets)
	}
	if e.Own != Other {
		c.own.ended(now, e.UID, &in.Outcome)
	}
	c.throttle(now, &in.Outcome)
	c.outage.called(now, e.Node, e.started, &in.Outcome)
}

func (in NodeRead) apply(c *Core, now time.Time, _ *Effects) {
	c.throttle(now, &in.Outcome)
	c.outage.nodeRead(now, in.Node, in.Sent, &in.Outcome)
}

func (ServerAnswered) apply(c *Core, now time.Time, _ *Effects) { c.outage.nudge(now) }

// throttle holds back all calls for as long as the server asks.
func (c *Core) throttle(now time.Time, o *eviction.Outcome) {
	if o.Kind == eviction.Throttled {
		c.throttled = later(c.throttled, now.Add(o.RetryAfter))
	}
}

// giveBack returns the tokens of a call. It ends the waits of all token sets: any of them may wait for these tokens.
func (c *Core) giveBack(now time.Time, buckets Buckets) {
	if buckets.Key == "" {
		return
	}
	buckets.Return(now)
	for _, set := range c.waitingForTokens.All() {
		set.waitUntil = now
		c.waitingForTokens.Set(set)
	}
}
