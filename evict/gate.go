package evict

import (
	"time"

	"github.com/taint-manager/taint-manager/shard"
)

// mostRetryAfter bounds how long one answer of the server can hold all calls back.
const mostRetryAfter = time.Minute

// Why all calls pause: a metric's label.
const (
	pauseAway      = "away"
	pauseThrottled = "throttled"
)

// gate says whether one more eviction call may be granted. It is pure, and not safe for concurrent
// use.
type gate struct {
	free      int // slots
	unsettled int // grants that are neither started nor given back
	running   int // calls
	outage    outageBackoff
	throttled time.Time // no grants before
	pace      pace
	ramp      ramp
}

// ticket is what the gate remembers of a grant.
type ticket struct {
	probe bool // it is to find out whether the server is back
	round int  // of the pause, when it was granted
}

// enter takes a slot for a grant. When there is none to be had now, it says how long until to ask
// again; 0: when something has changed.
func (g *gate) enter(now time.Time) (t ticket, ok bool, wait time.Duration) {
	if g.free == 0 || g.pace.limited() && g.unsettled > 0 {
		return t, false, 0
	}
	if ok, wait := g.outage.wait(now); !ok {
		return t, false, wait
	}
	if wait := max(g.throttled.Sub(now), g.pace.wait(now), g.ramp.wait(now, g.running+g.unsettled)); wait > 0 {
		return t, false, wait
	}
	t = ticket{probe: g.outage.on(), round: g.outage.round}
	g.free--
	g.unsettled++
	g.outage.probing = t.probe
	return t, true, 0
}

// leave gives a grant's slot back unused.
func (g *gate) leave(t ticket) {
	g.free++
	g.unsettled--
	g.probed(t)
}

// start turns a grant into a call.
func (g *gate) start(now time.Time) {
	if g.running == 0 {
		g.ramp.begin(now)
	}
	g.unsettled--
	g.running++
	g.pace.take(now)
}

// end takes the outcome of a call, and its slot back. It names the cause when all calls pause from now
// on that did not pause before.
func (g *gate) end(now time.Time, t ticket, o shard.Outcome) (pause string) {
	g.free++
	g.running--
	if o.Kind == shard.Throttled && !g.throttled.After(now) {
		pause = pauseThrottled
	}
	if o.Kind == shard.Away && !g.outage.on() {
		pause = pauseAway
	}
	switch {
	case o.Kind == shard.Away, o.Cause == CauseTimeout && g.current(t):
		g.outage.failed(now, g.current(t))
	case answered(o):
		g.outage.answered()
	default:
		g.probed(t)
	}
	if until := now.Add(o.RetryAfter); o.Kind == shard.Throttled && until.After(g.throttled) {
		g.throttled = until
	}
	return pause
}

// answered says whether an outcome proves that the server is there.
func answered(o shard.Outcome) bool {
	switch o.Kind {
	case shard.Away, shard.Interrupted, shard.Pretended:
		return false
	case shard.Failed:
		return o.Cause != CauseTimeout && o.Cause != CausePanic && o.Cause != CauseClient
	}
	return true
}

// current says whether the ticket is that of the probe that follows the present pause.
func (g *gate) current(t ticket) bool {
	return t.probe && g.outage.on() && t.round == g.outage.round
}

// probed lets another probe start in the place of this one, which has told nothing.
func (g *gate) probed(t ticket) {
	if g.current(t) {
		g.outage.probing = false
	}
}
