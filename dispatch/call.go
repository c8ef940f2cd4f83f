package dispatch

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
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
	way     int
	kind    kind // of its place
	started time.Time
	slow    bool
	probe   bool          // of an unknown workload of a slow namespace, in a slot
	buckets guard.Buckets // of which it has taken tokens

	asks  bool // it is to find out whether the server is back
	round int  // of the outage's pauses, when it started
}

// start starts the call of a candidate that is no longer in its line.
func (c *Core) start(now time.Time, it *item, way int, k kind, probe bool) Start {
	n := c.namespaceOf(it.Namespace)
	w := c.workloadOf(n, it.Workload)
	it.workload = w
	request := it.Ways[way].Request
	switch {
	case it.class.dryUntil.After(it.offered) && !it.Deadline.After(it.class.dryUntil):
		request.LateBy = eviction.LateByRate
	case it.Deadline.Before(c.resumed):
		request.LateBy = eviction.LateByHold
	}
	k0 := &call{
		item: it, way: way, kind: k, started: now, probe: probe, buckets: it.class.ways[way],
		asks: c.outage.on(), round: c.outage.round,
	}
	it.call, it.request = k0, &request
	c.outage.probing = k0.asks
	c.calls = append(c.calls, k0)
	c.inFlight++
	k0.buckets.Take(now)
	c.pace.take(now)
	c.places.take(now, k)
	n.served = c.nextSerial()
	w.served = n.served
	c.count(n, w, k, 1)
	if probe {
		n.probes++
	}
	c.rank(now, w)
	c.arrange(now, n)
	return Start{request, it.Done}
}

// count adds to the calls of a namespace and a workload in that kind of place.
func (c *Core) count(n *namespace, w *workload, k kind, by int) {
	n.calls[k] += by
	w.calls[k] += by
	if k == slot && n.isSlow {
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
	w, n := k.item.workload, k.item.workload.namespace
	k.slow = true
	n.turnSlow()
	w.turnSlow()
	if k.kind == slot {
		c.places.kept = append(c.places.kept, k)
		c.moveKept(now)
		if k.kind == slot {
			do.Kept = append(do.Kept, *k.item.request)
		}
	}
	c.rank(now, w)
	c.arrange(now, n)
	c.remember(now, w)
}

// moveKept gives free slow places to the slow calls that hold slots, the earliest first.
func (c *Core) moveKept(now time.Time) {
	for len(c.places.kept) > 0 && c.places.used[slowPlace] < c.places.slowPlaces {
		k := c.places.kept[0]
		c.places.kept = c.places.kept[1:]
		w, n := k.item.workload, k.item.workload.namespace
		c.count(n, w, slot, -1)
		c.count(n, w, slowPlace, 1)
		c.places.used[slot]--
		c.places.used[slowPlace]++
		c.endProbe(k)
		k.kind = slowPlace
		c.rank(now, w)
		c.arrange(now, n)
	}
}

// endProbe permits the next call of an unknown workload of the namespace in a slot.
func (c *Core) endProbe(k *call) {
	if n := k.item.workload.namespace; k.probe && n.probes > 0 {
		n.probes--
	}
	k.probe = false
}

// end takes the outcome of a call, and back what it holds.
func (c *Core) end(now time.Time, in CallEnded, do *Effects) {
	it := c.items[in.UID]
	if it == nil || it.call == nil {
		return
	}
	k, w, n := it.call, it.workload, it.workload.namespace
	it.call = nil
	c.inFlight--
	c.places.kept = slices.DeleteFunc(c.places.kept, func(other *call) bool { return other == k })
	c.places.used[k.kind]--
	c.count(n, w, k.kind, -1)
	c.endProbe(k)
	if !in.Outcome.MayHaveDeleted() && in.Outcome.Kind != eviction.DryRun {
		c.giveBack(now, k)
	} else if it.Own != Other {
		c.ownEnded = now
	}
	c.ownCalling = c.ownCalling && it.Own == Other
	switch {
	case k.slow:
		n.slowEnded(now)
		w.slowEnded(now)
	case admitted(&in.Outcome):
		n.answered(now)
		w.answered(now)
	}
	c.moveKept(now)
	c.rank(now, w)
	c.arrange(now, n)
	c.remember(now, w)
	do.Pause = c.learn(now, k, &in.Outcome)
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

// recount takes tokens for a call under way of the rates that count it since they were replaced.
func (ca *call) recount(now time.Time, c *Core) {
	way := &ca.item.Ways[ca.way]
	if t := way.Request.Verdict.Taint; t != nil {
		had := ca.buckets
		ca.buckets = c.rates.BucketsOf(t.Key, way.NodeLabels)
		ca.buckets.Beyond(had).Take(now)
	}
}

// admitted reports whether an outcome shows that admission has been asked, and has answered.
func admitted(o *eviction.Outcome) bool {
	switch o.Kind {
	case eviction.Accepted, eviction.DryRun, eviction.Blocked:
		return true
	}
	return o.Cause == eviction.CauseAdmission || o.Cause == eviction.CauseWebhook
}

// learn takes in what an outcome shows of the API server. It returns the cause of a pause that begins now; empty if
// none does.
func (c *Core) learn(now time.Time, k *call, o *eviction.Outcome) (pause string) {
	if o.Kind == eviction.Throttled && !c.throttled.After(now) {
		pause = pauseThrottled
	}
	if o.Kind == eviction.Unavailable && !c.outage.on() {
		pause = pauseUnavailable
	}
	asks := k.asks && c.outage.on() && k.round == c.outage.round
	switch {
	case o.Kind == eviction.Unavailable, o.Cause == eviction.CauseTimeout && asks:
		c.outage.failed(now, asks)
	case answered(*o):
		c.outage.answered()
	case asks:
		c.outage.probing = false
	}
	if until := now.Add(o.RetryAfter); o.Kind == eviction.Throttled && until.After(c.throttled) {
		c.throttled = until
	}
	return pause
}
