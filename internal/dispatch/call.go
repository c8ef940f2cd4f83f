package dispatch

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// maxRetryAfter bounds how long one answer of the server can hold all calls back.
const maxRetryAfter = time.Minute

// Why all calls pause: a metric's label.
const (
	pauseUnavailable = "unavailable"
	pauseThrottled   = "throttled"
)

// call is the call of an item, which is in Core.calls while it is in flight.
type call struct {
	request   *eviction.Request
	ended     *Ended        // nil while the call is in flight
	waited    eviction.Wait // what the candidate has waited for before
	namespace *namespace
	started   time.Time
	withdrawn bool    // while it was in flight
	buckets   Buckets // of which it has taken tokens
}

// start starts the call of the candidate whose turn it is in its line.
func (c *Core) start(now time.Time, it *item, way int, do *Effects) {
	request := it.Ways[way]
	waited := c.waited(it)
	request.LateBy = c.lateBy(it, waited, request.LateBy)
	l, n := it.line, it.line.namespace
	it.call = call{request: &request, waited: waited, namespace: n, started: now, buckets: it.class.ways[way]}
	if len(c.calls) == 0 {
		c.places.ramp = now
	}
	c.countCall(n, 1)
	n.served, l.served = c.nextSerial(), c.nextSerial()
	l.turns.serve()
	c.leave(it)
	c.calls = append(c.calls, it)
	it.buckets.Take(now)
	c.pace.take(now)
	do.Starts = append(do.Starts, request)
}

// lateBy returns what the candidate has waited for here since its deadline; otherwise what has made it late before.
func (c *Core) lateBy(it *item, waited eviction.Wait, before eviction.LateBy) eviction.LateBy {
	lasted := func(until time.Time) bool { return until.After(it.since) }
	switch {
	case waited.Cause == eviction.WaitsForRate:
		return eviction.LateByRate
	case lasted(c.resumed):
		return eviction.LateByHold
	case lasted(c.outage.ended), lasted(c.throttled), lasted(c.options.AwayUntil()):
		return eviction.LateByOutage
	case waited.Cause == eviction.WaitsForShare:
		return eviction.LateBySlowCalls
	case before == eviction.LateByNothing && it.Deadline.Before(c.resumed):
		return eviction.LateByHold
	}
	return before
}

// apply takes back what the call holds, and takes in what its outcome shows of the API server.
func (in CallEnded) apply(c *Core, now time.Time, _ *Effects) {
	it := c.items[in.UID]
	i := slices.Index(c.calls, it)
	if i < 0 {
		return
	}
	c.calls = slices.Delete(c.calls, i, i+1)
	it.ended = &Ended{*it.request, in.Outcome}
	c.countCall(it.namespace, -1)
	if !in.Outcome.MayHaveDeleted() && in.Outcome.Kind != eviction.DryRun {
		c.giveBack(now, it.buckets)
	}
	if it.Own != Other {
		c.own.ended(now, it.UID, &in.Outcome)
	}
	c.throttle(now, &in.Outcome)
	c.outage.called(now, it.Node, it.started, &in.Outcome)
}

func (in NodeRead) apply(c *Core, now time.Time, _ *Effects) {
	c.throttle(now, &in.Outcome)
	c.outage.nodeRead(now, in.Node, in.Sent, &in.Outcome)
}

func (ServerAnswered) apply(c *Core, now time.Time, _ *Effects) { c.outage.nudge(now) }

// throttle holds all calls back for as long as the server asks.
func (c *Core) throttle(now time.Time, o *eviction.Outcome) {
	if o.Kind == eviction.Throttled {
		c.throttled = later(c.throttled, now.Add(o.RetryAfter))
	}
}

// giveBack returns the tokens of a call. It ends the waits of all classes, as any of them may wait for these tokens.
func (c *Core) giveBack(now time.Time, buckets Buckets) {
	if buckets.Key == "" {
		return
	}
	buckets.Return(now)
	for _, cl := range c.dry.All() {
		cl.dryUntil = now
		c.dry.Set(cl)
	}
}
