package shard

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// call is what a shard remembers of a pod for which an eviction call has been made, until the watch
// shows the pod gone or its eviction is cancelled.
type call struct {
	phase    phase
	method   policy.Method // of the last call
	action   policy.Action // the one last acted on
	attempts int           // calls made
	repeats  int           // outcomes of this kind and method in a row
	last     eviction.Kind
	outcome  eviction.Outcome // the last one
	refused  bool             // at any call so far, or such that a preflight is to be sent first
	reported []string         // the causes that notes have named

	notBefore      time.Time // no request to evict starts before it
	noDeleteBefore time.Time // no deletion starts before it
	refusedSince   time.Time // when a request to evict the pod was first refused; zero if none was
	webhookSince   time.Time // when a request to evict the pod first failed in a webhook; zero if none did
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

// note returns a note about the action last acted on.
func (c *call) note(kind eviction.NoteKind, pod *taint.Pod) eviction.Note {
	return eviction.Note{Kind: kind, Pod: pod, Verdict: c.action.Verdict, Policy: c.action.Policy, Method: c.method}
}

// begin records the call that starts now, and reports whether it is the first one by this method.
func (c *call) begin(next nextCall) (first bool) {
	first = c.method != next.method
	if first {
		c.repeats = 0
	}
	c.phase, c.method, c.action = inFlight, next.method, *next.action
	c.attempts++
	return first
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
	if c.method == policy.Evict {
		c.refuse(now, &o)
	}
	switch o.Kind {
	case eviction.Accepted:
		c.phase = accepted
	case eviction.DryRun:
		c.phase = dryRun
	case eviction.Throttled:
		c.wait(o.Kind, now.Add(o.RetryAfter))
	default:
		c.wait(o.Kind, now.Add(backoffOf(o.Kind).delay(c.repeats, jitter)))
	}
}

// refuse records whether the outcome of a request to evict the pod counts as a refusal. The failure of a webhook does once
// it has lasted, and then from its first time on.
func (c *call) refuse(now time.Time, o *eviction.Outcome) {
	fails := o.FailsInWebhook()
	if fails && c.webhookSince.IsZero() {
		c.webhookSince = now
	}
	switch {
	case !c.refusedSince.IsZero():
	case o.RefusesEviction():
		c.refusedSince = now
	case fails && now.Sub(c.webhookSince) >= policy.WebhookFailsFor:
		c.refusedSince = c.webhookSince
	}
}

// wait makes the pod wait until then for its next call. After a request to evict, a deletion waits only for what
// concerns it as well.
func (c *call) wait(after eviction.Kind, until time.Time) {
	c.phase, c.notBefore, c.noDeleteBefore = waiting, until, until
	if c.method == policy.Evict && concernsRequestAlone(after) {
		c.noDeleteBefore = time.Time{}
	}
}

// concernsRequestAlone reports whether a request to evict may have failed in this way where a deletion would not.
func concernsRequestAlone(k eviction.Kind) bool {
	switch k {
	case eviction.Blocked, eviction.Refused, eviction.Failed, eviction.Unconfirmed:
		return true
	}
	return false
}
