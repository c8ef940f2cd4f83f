package evict

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// maxRetryAfter bounds how long one answer of the server can hold all calls back.
const maxRetryAfter = time.Minute

// SlowAfter is how long a call holds a slot at most. Then it is slow, and takes a slow place.
const SlowAfter = time.Second

// Why all calls pause: a metric's label.
const (
	pauseUnavailable = "unavailable"
	pauseThrottled   = "throttled"
)

// Limiter decides whether one more eviction call may start, in a slot or in a slow place. It is pure, and
// not safe for concurrent use.
//
// A slow call holds a slow place, or a slot when all slow places are taken; it does
// not matter which of the slow calls hold slots.
type Limiter struct {
	slots, places int // their numbers

	reservedSlots, reservedPlaces int // by permits that are neither started nor given back
	unsettled                     int // such permits; each holds a slot, a slow place, or one of both to choose from

	quick []quickCall // in the order in which they started
	slow  int         // calls; those that started in slow places are slow

	outage    outageBackoff
	throttled time.Time // no permits before
	rate      rateLimit // of all calls
	slowRate  rateLimit // of those that start in slow places
	slowStart slowStart // of those that start in slots
	workloads slowWorkloads
	rates     rates
}

// quickCall is a call that holds a slot and is not slow.
type quickCall struct {
	ticket *Ticket
	pod    *taint.Pod
}

// NewLimiter returns a limiter with these numbers of slots and slow places, and of calls a second unless rate is
// 0. jitter returns numbers in [0,1).
func NewLimiter(slots, places int, rate float64, jitter func() float64) *Limiter {
	return &Limiter{
		slots: slots, places: places, rate: newRateLimit(rate), slowRate: rateLimit{interval: slowStartStep},
		outage: outageBackoff{jitter: jitter},
	}
}

// Ticket is what the limiter remembers of a permit, and then of its call.
type Ticket struct {
	Slot, Place bool // what it reserves; a call that was started has one of them

	probe bool // it is to find out whether the server is back
	round int  // of the pause, when it was permitted
	late  bool // the call has lasted longer than SlowAfter

	counted bool // among the calls of a slow workload

	tokens guard.Tokens // of the rates that count the eviction
}

// InFlight returns how many calls are under way.
func (g *Limiter) InFlight() int { return len(g.quick) + g.slow }

// Kept returns how many slow calls hold slots, as all slow places are taken.
func (g *Limiter) Kept() int { return max(0, g.slow-g.places) }

// Slow returns the workloads whose calls are slow.
func (g *Limiter) Slow() shard.SlowWorkloads { return g.workloads.snapshot }

// Enter reserves a slot, a slow place, or one of the two, whichever the caller can use. wait is how long until
// more may be available; 0: not before something has changed.
func (g *Limiter) Enter(now time.Time) (t Ticket, wait time.Duration) {
	if g.rate.limited() && g.unsettled > 0 {
		return t, 0
	}
	if ok, wait := g.outage.wait(now); !ok {
		return t, wait
	}
	if wait := max(g.throttled.Sub(now), g.rate.wait(now)); wait > 0 {
		return t, wait
	}
	g.workloads.expire(now)
	t = Ticket{probe: g.outage.on(), round: g.outage.round}
	if g.freeSlots() > 0 {
		t.Slot, wait = soonest(wait, g.slowStart.wait(now, len(g.quick)+g.reservedSlots))
	}
	if len(g.workloads.known) > 0 && g.slow+g.reservedPlaces < g.places {
		t.Place, wait = soonest(wait, g.slowRate.wait(now))
	}
	if t.Slot || t.Place {
		g.reserve(t, 1)
		g.outage.probing = t.probe
	}
	return t, wait
}

// soonest reports whether there is no wait, and else returns the shorter of two waits; 0 is none.
func soonest(wait, another time.Duration) (now bool, _ time.Duration) {
	switch {
	case another <= 0:
		return true, wait
	case wait == 0:
		return false, another
	}
	return false, min(wait, another)
}

func (g *Limiter) freeSlots() int {
	return g.slots - len(g.quick) - g.reservedSlots - max(0, g.slow+g.reservedPlaces-g.places)
}

// reserve adds n times what the ticket reserves; n is 1 or -1.
func (g *Limiter) reserve(t Ticket, n int) {
	g.unsettled += n
	if t.Slot {
		g.reservedSlots += n
	}
	if t.Place {
		g.reservedPlaces += n
	}
}

// Leave gives a permit back unused, with its tokens.
func (g *Limiter) Leave(t Ticket) {
	g.reserve(t, -1)
	g.probed(t)
	g.rates.giveBack(t.tokens)
}

// Start turns a permit into a call, in a slow place or in a slot.
func (g *Limiter) Start(now time.Time, t *Ticket, pod *taint.Pod, place bool) {
	g.reserve(*t, -1)
	t.Slot, t.Place = !place, place
	t.counted = g.workloads.start(pod)
	if place {
		g.slow++
		g.slowRate.take(now)
	} else {
		if len(g.quick) == 0 {
			g.slowStart.begin(now)
		}
		g.quick = append(g.quick, quickCall{t, pod})
	}
	g.rate.take(now)
}

// leaveSlot takes a call out of those that are quick.
func (g *Limiter) leaveSlot(t *Ticket) {
	g.quick = slices.DeleteFunc(g.quick, func(c quickCall) bool { return c.ticket == t })
}

// turnSlow moves a quick call to a slow place.
func (g *Limiter) turnSlow(t *Ticket) {
	t.Slot, t.Place = false, true
	g.leaveSlot(t)
	g.slow++
}

// Late records that a call has lasted for SlowAfter. It reports whether the call is slow and keeps its slot, as
// all slow places are taken. The first slow call of a workload makes the others that are in slots slow, too.
func (g *Limiter) Late(t *Ticket, pod *taint.Pod) (kept bool) {
	t.late = true
	isNew := g.workloads.late(pod, t.counted)
	t.counted = true
	if !t.Place {
		g.turnSlow(t)
		kept = g.slow > g.places
	}
	if isNew {
		g.turnAlikeSlow(pod)
	}
	return kept
}

// turnAlikeSlow moves the quick calls of a workload that has just turned out to be slow, as long as there are slow
// places.
func (g *Limiter) turnAlikeSlow(pod *taint.Pod) {
	w := shard.WorkloadOf(pod)
	for _, c := range slices.Clone(g.quick) {
		if shard.WorkloadOf(c.pod) != w {
			continue
		}
		if !c.ticket.counted {
			c.ticket.counted = g.workloads.start(c.pod)
		}
		if g.slow+g.reservedPlaces < g.places {
			g.turnSlow(c.ticket)
		}
	}
}

// End takes the outcome of a call, and back what it holds. It names the cause when all calls pause from
// now on that did not pause before.
func (g *Limiter) End(now time.Time, t *Ticket, pod *taint.Pod, o eviction.Outcome) (pause string) {
	g.workloads.end(now, *t, pod, o)
	g.rates.end(now, t.tokens, o)
	if t.Place {
		g.slow--
	} else {
		g.leaveSlot(t)
	}
	if o.Kind == eviction.Throttled && !g.throttled.After(now) {
		pause = pauseThrottled
	}
	if o.Kind == eviction.Unavailable && !g.outage.on() {
		pause = pauseUnavailable
	}
	switch {
	case o.Kind == eviction.Unavailable, o.Cause == eviction.CauseTimeout && g.current(*t):
		g.outage.failed(now, g.current(*t))
	case answered(o):
		g.outage.answered()
	default:
		g.probed(*t)
	}
	if until := now.Add(o.RetryAfter); o.Kind == eviction.Throttled && until.After(g.throttled) {
		g.throttled = until
	}
	return pause
}

// NodeRead takes how a GET of a node has ended that was sent at that moment. It names the cause when all
// calls pause from now on.
func (g *Limiter) NodeRead(now, sent time.Time, o eviction.Outcome) (pause string) {
	if o.Kind == eviction.Unavailable && !g.outage.on() {
		pause = pauseUnavailable
	}
	g.outage.nodeRead(now, sent, o)
	return pause
}

// Nudge records that the API server has answered. It reports whether that ends a pause.
func (g *Limiter) Nudge(now time.Time) bool { return g.outage.nudge(now) }

// PausedSince returns when the present pause of all calls began; zero while there is none.
func (g *Limiter) PausedSince() time.Time {
	if !g.outage.on() {
		return time.Time{}
	}
	return g.outage.since
}

// answered reports whether an outcome proves that the server is there.
func answered(o eviction.Outcome) bool {
	switch o.Kind {
	case eviction.Unavailable, eviction.Interrupted, eviction.DryRun:
		return false
	case eviction.Failed:
		return o.Cause != eviction.CauseTimeout && o.Cause != eviction.CausePanic && o.Cause != eviction.CauseClient
	}
	return true
}

// current reports whether the ticket is that of the probe that follows the present pause.
func (g *Limiter) current(t Ticket) bool {
	return t.probe && g.outage.on() && t.round == g.outage.round
}

// probed permits another probe in the place of this one, which gave no result.
func (g *Limiter) probed(t Ticket) {
	if g.current(t) {
		g.outage.probing = false
	}
}
