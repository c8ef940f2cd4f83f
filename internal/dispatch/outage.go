package dispatch

import (
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// How long calls pause while the API server cannot be reached: the first pause, and the longest.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 30 * time.Second
)

// Wait returns how long all calls wait after an outcome of this kind, in words; it is empty where none waits.
func Wait(kind eviction.Kind) string {
	switch kind {
	case eviction.Unavailable:
		return fmt.Sprintf("%v, doubling to %v, with jitter", firstPause, maxPause)
	case eviction.Throttled:
		return fmt.Sprintf("what the server asks for, %v if it does not say, at most %v", defaultRetryAfter,
			maxRetryAfter)
	}
	return ""
}

// outage holds all calls back while the API server cannot be reached: pauses that double. After each of them one probe
// is sent, a GET of a node, which shows whether the server is back. The zero value is off. It is pure, and not safe for
// concurrent use.
type outage struct {
	jitter  func() float64 // in [0,1); a pause is between half of its length and all of it
	pause   time.Duration  // length of the present pause; 0: off
	since   time.Time      // start of the present pause
	until   time.Time      // its end
	ended   time.Time      // when the last outage ended
	node    string         // node of the request that had no answer; probes read it
	probing bool           // a probe is in flight
}

// on reports whether the API server counts as unreachable.
func (o *outage) on() bool { return o.pause > 0 }

// called records the outcome of a call that started at that moment. Any answer ends the outage: a call that started
// before the pause may have sent its last request later.
func (o *outage) called(now time.Time, node string, started time.Time, outcome *eviction.Outcome) {
	if answered(outcome) {
		o.end(now)
	} else {
		o.failed(now, node, started, outcome)
	}
}

// nodeRead records the outcome of a GET of a node that was sent at that moment. The answer to a GET from before the
// pause says nothing about the server now.
func (o *outage) nodeRead(now time.Time, node string, sent time.Time, outcome *eviction.Outcome) {
	if !answered(outcome) {
		o.failed(now, node, sent, outcome)
	} else if !sent.Before(o.since) {
		o.end(now)
	}
}

// failed records that a request had no answer. Only the probe, which is sent after the pause, lengthens the outage:
// earlier requests show nothing new. A probe that could not be sent lengthens it, too; otherwise the next probe would
// follow at once.
func (o *outage) failed(now time.Time, node string, sent time.Time, outcome *eviction.Outcome) {
	byProbe := o.on() && !sent.Before(o.until)
	switch {
	case outcome.Kind == eviction.Unavailable && !o.on():
		o.node = node
		o.hold(now, firstPause)
	case byProbe && outcome.Kind == eviction.Interrupted: // its term has ended
		o.probing = false
	case byProbe:
		o.hold(now, min(2*o.pause, maxPause))
	}
}

func (o *outage) hold(now time.Time, pause time.Duration) {
	o.pause, o.since, o.probing = pause, now, false
	o.until = now.Add(pause/2 + time.Duration(o.jitter()*float64(pause/2)))
}

// probe returns the node to read; empty while a probe is in flight.
func (o *outage) probe() string {
	if o.probing {
		return ""
	}
	o.probing = true
	return o.node
}

// end records that the server can be reached.
func (o *outage) end(now time.Time) {
	if o.on() {
		o.ended = now
	}
	o.pause, o.probing = 0, false
}

// nudge records that the server has answered a watch: the pause ends at once, but no sooner than firstPause after the
// last probe.
func (o *outage) nudge(now time.Time) {
	if !o.on() {
		return
	}
	o.pause = firstPause
	if end := later(now, o.since.Add(firstPause)); end.Before(o.until) {
		o.until = end
	}
}

// answered reports whether an outcome proves that the server can be reached.
func answered(o *eviction.Outcome) bool {
	switch o.Kind {
	case eviction.Unavailable, eviction.Interrupted, eviction.DryRun:
		return false
	case eviction.Failed:
		return o.Cause != eviction.CauseTimeout && o.Cause != eviction.CausePanic && o.Cause != eviction.CauseClient
	}
	return true
}
