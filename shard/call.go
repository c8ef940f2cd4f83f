package shard

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// call is what a shard remembers of a pod for which an eviction call has been made, until the watch
// shows the pod gone or its eviction is withdrawn.
type call struct {
	phase     phase
	verdict   taint.Verdict // the one last acted on
	notBefore time.Time     // no call starts before it
	attempts  int           // calls made
	repeats   int           // outcomes of this kind in a row
	last      eviction.Kind
	outcome   eviction.Outcome // the last one
	refused   bool             // at any call so far, or such that a preflight is to be sent first
	reported  []string         // the causes that notes have named
}

// phase is the progress of a call.
type phase uint8

const (
	waiting  phase = iota // for its time, in the queue
	inFlight              // a call is under way
	accepted              // the API server took the deletion: no further call
	dryRun                // dry run: as if accepted, while the pod stays due
)

// delayed reports whether the eviction counts as delayed. A few failures in a row do not: they are transient.
func (c *call) delayed() bool {
	switch c.last {
	case eviction.Blocked, eviction.Refused:
		return true
	case eviction.Failed:
		return c.repeats > 2
	case eviction.Unconfirmed:
		return c.repeats > 6
	}
	return false
}

// report records a cause, and reports whether it is new.
func (c *call) report(cause string) bool {
	if slices.Contains(c.reported, cause) {
		return false
	}
	c.reported = append(c.reported, cause)
	return true
}

// end records the outcome of the call that was under way. A wait is fixed here, once: judging the pod
// again never shortens it.
func (c *call) end(now time.Time, o eviction.Outcome, jitter float64) {
	if o.Kind != c.last {
		c.repeats = 0
	}
	c.last, c.outcome = o.Kind, o
	c.repeats++
	c.refused = c.refused || o.Kind == eviction.Refused || o.PreflightFirst
	if o.Kind == eviction.Unavailable && o.NodeRead {
		c.repeats = 0
	}
	switch o.Kind {
	case eviction.Accepted:
		c.phase = accepted
	case eviction.DryRun:
		c.phase = dryRun
	case eviction.Throttled:
		c.phase, c.notBefore = waiting, now.Add(o.RetryAfter)
	default:
		c.phase, c.notBefore = waiting, now.Add(backoffOf(o.Kind).delay(c.repeats, jitter))
	}
}
