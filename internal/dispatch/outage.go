package dispatch

import (
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// OutagePauses returns how long calls pause while the API server cannot be reached.
func OutagePauses() Backoff { return Backoff{First: 100 * time.Millisecond, Max: 30 * time.Second} }

// outage holds back all calls while the API server cannot be reached, in pauses that double. After each pause one
// probe, a GET of a node, shows whether the server is back. The zero value is off. It is pure, and not safe for
// concurrent use.
type outage struct {
	jitter  func() float64
	pauses  int       // in a row; 0: off
	since   time.Time // start of the present pause
	until   time.Time // its end
	ended   time.Time // when the last outage ended
	node    string    // the node of the request that had no answer; probes read this node
	probing bool      // a probe is in flight
}

// on reports whether the API server counts as unreachable.
func (o *outage) on() bool { return o.pauses > 0 }

// called records the outcome of a call, and when the call started. Any answer ends the outage, even that of a call that
// started before the pause: its last request may have been sent later.
func (o *outage) called(now time.Time, node string, started time.Time, outcome *eviction.Outcome) {
	if answered(outcome) {
		o.end(now)
	} else {
		o.failed(now, node, started, outcome)
	}
}

// nodeRead records the outcome of a GET of a node, and when the GET was sent. The answer to a GET from before the pause
// says nothing about the server now.
func (o *outage) nodeRead(now time.Time, node string, sent time.Time, outcome *eviction.Outcome) {
	if !answered(outcome) {
		o.failed(now, node, sent, outcome)
	} else if !sent.Before(o.since) {
		o.end(now)
	}
}

// failed records that a request had no answer. Only a request that is sent after the pause, such as the probe,
// lengthens the outage: earlier requests show nothing new. A probe that could not be sent lengthens it, too; otherwise
// the next probe would follow at once.
func (o *outage) failed(now time.Time, node string, sent time.Time, outcome *eviction.Outcome) {
	byProbe := o.on() && !sent.Before(o.until)
	switch {
	case outcome.Kind == eviction.Unavailable && !o.on():
		o.node = node
		o.hold(now)
	case byProbe && outcome.Kind == eviction.Interrupted: // this process no longer leads
		o.probing = false
	case byProbe:
		o.hold(now)
	}
}

// hold begins a pause, twice as long as the one before.
func (o *outage) hold(now time.Time) {
	o.pauses++
	o.since, o.probing = now, false
	o.until = now.Add(OutagePauses().Wait(o.pauses, o.jitter()))
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
	o.pauses, o.probing = 0, false
}

// nudge records that the server has answered a watch: the pause ends, but not before it has lasted as long as a first
// pause.
func (o *outage) nudge(now time.Time) {
	if !o.on() {
		return
	}
	o.pauses = 1
	if end := later(now, o.since.Add(OutagePauses().First)); end.Before(o.until) {
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
