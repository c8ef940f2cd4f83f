package dispatch

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
)

// maxRetryAfter bounds how long one answer of the server can hold all calls back.
const maxRetryAfter = time.Minute

// Why all calls pause: a metric's label.
const (
	pauseUnavailable = "unavailable"
	pauseThrottled   = "throttled"
)

// call is the call of an item, which is in Core.calls while it is under way.
type call struct {
	request *eviction.Request
	ended   *Ended        // nil while the call is under way
	waited  eviction.Wait // what the candidate has waited for before
	kind    kind          // of its place
	started time.Time
	slow    bool
	buckets breaker.Buckets // of which it has taken tokens
}

// start starts the call of a candidate that is no longer in its line.
func (c *Core) start(now time.Time, it *item, way int, place kind, do *Effects) {
	w := c.workloadOf(&it.Candidate)
	it.workload = w
	request := it.Ways[way]
	waited := c.waited(it)
	request.LateBy = c.lateBy(it, place, waited, request.LateBy)
	c.places.started(now, place, c.used(place))
	it.call = call{request: &request, waited: waited, kind: place, started: now, buckets: it.class.ways[way]}
	c.calls = append(c.calls, it)
	c.outage.probing = c.outage.on()
	it.buckets.Take(now)
	c.pace.take(now)
	w.count(place, 1)
	w.served = c.nextSerial()
	w.namespace.served = w.served
	if place == slot && it.startsSlow() {
		w.namespace.probe = it
	}
	c.refresh(now, w)
	do.Starts = append(do.Starts, request)
}

// lateBy returns what the candidate has waited for here since its deadline; otherwise what has made it late before.
func (c *Core) lateBy(it *item, place kind, waited eviction.Wait, before eviction.LateBy) eviction.LateBy {
	lasted := func(until time.Time) bool { return until.After(it.since) }
	switch {
	case waited.Cause == eviction.WaitsForRate:
		return eviction.LateByRate
	case lasted(c.resumed):
		return eviction.LateByHold
	case c.outage.on(), lasted(c.outage.ended), lasted(c.throttled), lasted(c.options.AwayUntil()):
		return eviction.LateByOutage
	case place == slowPlace:
		return eviction.LateByWebhook
	case before == eviction.LateByNothing && it.Deadline.Before(c.resumed):
		return eviction.LateByHold
	}
	return before
}

// countCalls returns how many calls under way are so.
func (c *Core) countCalls(are func(*item) bool) (n int) {
	for _, it := range c.calls {
		if are(it) {
			n++
		}
	}
	return n
}

// used returns how many places of this kind are taken.
func (c *Core) used(k kind) int {
	return c.countCalls(func(it *item) bool { return it.kind == k })
}

// turnSlow makes those calls slow that have lasted for SlowAfter, and gives them slow places.
func (c *Core) turnSlow(now time.Time, do *Effects) {
	for _, it := range c.calls {
		if it.slow || it.started.Add(SlowAfter).After(now) {
			continue
		}
		it.slow = true
		c.refresh(now, it.workload)
		if c.moveSlow(now); it.kind == slot {
			do.Kept++
		}
	}
}

// moveSlow gives free slow places to the slow calls that hold slots, the earliest first.
func (c *Core) moveSlow(now time.Time) {
	free := c.places.slowPlaces - c.used(slowPlace)
	for _, it := range c.calls {
		if it.slow && it.kind == slot && free > 0 {
			free--
			it.workload.count(slot, -1)
			it.workload.count(slowPlace, 1)
			it.kind = slowPlace
			it.endProbe()
			c.refresh(now, it.workload)
		}
	}
}

// endProbe permits the next call of an unknown workload of the namespace in a slot, if this call is such a call.
func (it *item) endProbe() {
	if n := it.workload.namespace; n.probe == it {
		n.probe = nil
	}
}

// end takes in the outcome of a call, and takes back what the call holds.
func (c *Core) end(now time.Time, in CallEnded) {
	it := c.items[in.UID]
	i := slices.Index(c.calls, it)
	if i < 0 {
		return
	}
	c.calls = slices.Delete(c.calls, i, i+1)
	it.ended = &Ended{*it.request, in.Outcome}
	w := it.workload
	w.count(it.kind, -1)
	it.endProbe()
	if !in.Outcome.MayHaveDeleted() && in.Outcome.Kind != eviction.DryRun {
		c.giveBack(now, it.buckets)
	} else if it.Own != Other {
		c.ownEnded = now
	}
	switch {
	case it.slow:
		c.remember(now, w, slow)
	case admitted(&in.Outcome):
		c.remember(now, w, quick)
	}
	c.refresh(now, w)
	c.moveSlow(now)
	c.hear(now, it.started, &in.Outcome)
}

// hear takes in what the outcome of a call shows of the API server.
func (c *Core) hear(now, started time.Time, o *eviction.Outcome) {
	if o.Kind == eviction.Throttled {
		c.throttled = later(c.throttled, now.Add(o.RetryAfter))
	}
	c.outage.called(now, started, o)
}

// giveBack returns the tokens of a call. It ends the waits of all classes, as any of them may wait for these tokens.
func (c *Core) giveBack(now time.Time, buckets breaker.Buckets) {
	if buckets.Key == "" {
		return
	}
	buckets.Return(now)
	for _, cl := range c.dry.All() {
		cl.dryUntil = now
		c.dry.Set(cl)
	}
}

// recount takes, for a call under way, tokens of the rates that did not count the call before the rates were replaced.
func (c *Core) recount(now time.Time, it *item) {
	had := it.buckets
	it.buckets = c.bucketsOf(&it.Candidate, it.request)
	it.buckets.Beyond(had).Take(now)
}

// admitted reports whether an outcome shows that admission has been asked, and has answered.
func admitted(o *eviction.Outcome) bool {
	switch o.Kind {
	case eviction.Accepted, eviction.DryRun, eviction.Blocked:
		return true
	}
	return o.Cause == eviction.CauseAdmission || o.Cause == eviction.CauseWebhook
}
