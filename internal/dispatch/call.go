package dispatch

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/guard"
)

// maxRetryAfter bounds how long one answer of the server can hold all calls back.
const maxRetryAfter = time.Minute

// Why all calls pause: a metric's label.
const (
	pauseUnavailable = "unavailable"
	pauseThrottled   = "throttled"
)

// call is a call under way.
type call struct {
	item    *item
	kind    kind // of its place
	started time.Time
	slow    bool
	probe   bool          // of an unknown workload of a slow namespace, in a slot
	buckets guard.Buckets // of which it has taken tokens
}

// start starts the call of a candidate that is no longer in its line.
func (c *Core) start(now time.Time, it *item, way int, place kind, probe bool, do *Effects) {
	w := c.workloadOf(&it.Candidate)
	request := it.Ways[way]
	request.LateBy = c.lateBy(it, place, request.LateBy)
	k := &call{item: it, kind: place, started: now, probe: probe, buckets: it.class.ways[way]}
	it.workload, it.call, it.request, it.waited = w, k, &request, c.waited(it, w)
	c.outage.probing = c.outage.on()
	c.calls = append(c.calls, k)
	k.buckets.Take(now)
	c.pace.take(now)
	c.places.started(now, place)
	c.count(w, place, 1)
	w.served = c.nextSerial()
	w.namespace.served = w.served
	if probe {
		w.namespace.probes++
	}
	c.refresh(now, w)
	do.Starts = append(do.Starts, Start{request, it.Done})
}

// lateBy returns what the candidate has waited for here since its deadline; otherwise what has made it late before.
func (c *Core) lateBy(it *item, place kind, before eviction.LateBy) eviction.LateBy {
	lasted := func(until time.Time) bool { return until.After(it.offered) && !it.Deadline.After(until) }
	switch {
	case lasted(it.class.dryUntil), lasted(c.pace.held):
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

// count adds to the calls of a workload in that kind of place.
func (c *Core) count(w *workload, k kind, by int) {
	c.places.used[k] += by
	w.namespace.calls[k] += by
	w.calls[k] += by
	if k == slot && w.namespace.speed() == slow {
		c.slowSlots += by
	}
}

// turnSlow makes those calls slow that have lasted for SlowAfter, and gives them slow places.
func (c *Core) turnSlow(now time.Time, do *Effects) {
	for len(c.calls) > 0 {
		k := c.calls[0]
		if k.item.call == k && k.started.Add(SlowAfter).After(now) {
			return
		}
		c.calls = c.calls[1:]
		if k.item.call == k {
			c.becomeSlow(now, k, do)
		}
	}
}

func (c *Core) becomeSlow(now time.Time, k *call, do *Effects) {
	k.slow = true
	k.item.workload.turnSlow()
	c.refresh(now, k.item.workload)
	if k.kind == slowPlace {
		return
	}
	c.places.kept = append(c.places.kept, k)
	c.moveKept(now)
	if k.kind == slot {
		do.Kept = append(do.Kept, *k.item.request)
	}
}

// moveKept gives free slow places to the slow calls that hold slots, the earliest first.
func (c *Core) moveKept(now time.Time) {
	for len(c.places.kept) > 0 && c.places.used[slowPlace] < c.places.slowPlaces {
		k := c.places.kept[0]
		c.places.kept = c.places.kept[1:]
		w := k.item.workload
		c.count(w, slot, -1)
		c.count(w, slowPlace, 1)
		k.kind = slowPlace
		k.endProbe()
		c.refresh(now, w)
	}
}

// endProbe permits the next call of an unknown workload of the namespace in a slot.
func (ca *call) endProbe() {
	if ca.probe {
		ca.item.workload.namespace.probes--
		ca.probe = false
	}
}

// end takes in the outcome of a call, and takes back what the call holds.
func (c *Core) end(now time.Time, in CallEnded, do *Effects) {
	it := c.items[in.UID]
	if it == nil || it.call == nil {
		return
	}
	k, w := it.call, it.workload
	it.call = nil
	c.places.kept = slices.DeleteFunc(c.places.kept, func(other *call) bool { return other == k })
	c.count(w, k.kind, -1)
	k.endProbe()
	if !in.Outcome.MayHaveDeleted() && in.Outcome.Kind != eviction.DryRun {
		c.giveBack(now, k)
	} else if it.Own != Other {
		c.ownEnded = now
	}
	c.ownCalling = c.ownCalling && it.Own == Other
	switch {
	case k.slow:
		c.slowEnded(now, w)
	case admitted(&in.Outcome):
		c.answered(now, w)
	}
	c.refresh(now, w)
	c.takeAsRecovered(now, w.namespace)
	c.moveKept(now)
	c.hear(now, k, &in.Outcome, do)
}

// hear takes in what the outcome of a call shows of the API server.
func (c *Core) hear(now time.Time, k *call, o *eviction.Outcome, do *Effects) {
	if o.Kind == eviction.Throttled {
		if !c.throttled.After(now) {
			do.Pause = pauseThrottled
		}
		c.throttled = later(c.throttled, now.Add(o.RetryAfter))
	}
	if c.outage.called(now, k.started, o) {
		do.Pause = pauseUnavailable
	}
}

// giveBack returns the tokens of a call. It ends the waits of all classes, as any of them may wait for these tokens.
func (c *Core) giveBack(now time.Time, k *call) {
	if k.buckets.Key == "" {
		return
	}
	k.buckets.Return(now)
	for _, cl := range c.dry.All() {
		cl.dryUntil = now
		c.dry.Set(cl)
	}
}

// recount takes, for a call under way, tokens of the rates that did not count the call before the rates were replaced.
func (c *Core) recount(now time.Time, k *call) {
	had := k.buckets
	k.buckets = c.bucketsOf(&k.item.Candidate, k.item.request)
	k.buckets.Beyond(had).Take(now)
}

// admitted reports whether an outcome shows that admission has been asked, and has answered.
func admitted(o *eviction.Outcome) bool {
	switch o.Kind {
	case eviction.Accepted, eviction.DryRun, eviction.Blocked:
		return true
	}
	return o.Cause == eviction.CauseAdmission || o.Cause == eviction.CauseWebhook
}
