package shard

import (
	"cmp"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// calls is what a shard remembers of the calls for a pod, until the watch shows the pod gone or its eviction is
// cancelled.
type calls struct {
	method   policy.Method // of the last call that was not interrupted
	attempts int
	repeats  int              // outcomes of this kind and method in a row
	outcome  eviction.Outcome // the last one
	refused  bool             // a call was refused, or the next call needs a preflight
	reported []string         // the causes that notes have named
	lateBy   eviction.LateBy  // what made the eviction late so far
	deadline time.Time        // for which lateBy counts

	policy.Calls // what the judge needs to know
	webhook      episode
}

// policyCalls returns what the judge needs to know of the calls.
func (e *entry) policyCalls() policy.Calls {
	if e.calls == nil {
		return policy.Calls{}
	}
	return e.calls.Calls
}

// stuck reports whether the eviction is blocked, refused or delayed. A few failures in a row are transient.
func (c *calls) stuck() bool {
	switch c.outcome.Kind {
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
func (c *calls) report(cause string) bool {
	if slices.Contains(c.reported, cause) {
		return false
	}
	c.reported = append(c.reported, cause)
	return true
}

// note returns a note about the eviction, or about what holds the pod.
func (e *entry) note(kind eviction.NoteKind, pod *taint.Pod) eviction.Note {
	n := eviction.Note{Kind: kind, Pod: pod, Verdict: e.plan.verdict, Policy: e.plan.policy, Method: e.plan.method}
	if e.stage == held {
		n.Held = e.heldBy
	}
	return n
}

// planOf returns the plan that a request carries out.
func (c *Core) planOf(r *eviction.Request) plan {
	return plan{method: cmp.Or(r.Method, c.judge.Method()), policy: r.Policy, verdict: r.Verdict}
}

// record records a call that has ended. It sets the wait before the next call; re-evaluating the pod never shortens it.
func (c *Core) record(now time.Time, e *entry, ended *dispatch.Ended) {
	r := &ended.Request
	e.plan = c.planOf(r)
	if e.calls == nil {
		e.calls = &calls{}
	}
	e.calls.attempts = r.Attempt
	e.calls.lateBy, e.calls.deadline = cmp.Or(ended.Outcome.LateBy(), r.LateBy), r.Verdict.At
	e.calls.end(now, e.plan.method, &ended.Outcome, c.options.Jitter())
	switch ended.Outcome.Kind {
	case eviction.Accepted:
		c.setStage(e, accepted)
	case eviction.DryRun:
		c.setStage(e, dryRun)
	default:
		c.setStage(e, callEnded)
	}
}

// end records the outcome of a call by this method.
func (c *calls) end(now time.Time, by policy.Method, o *eviction.Outcome, jitter float64) {
	if o.Kind != c.outcome.Kind || by != c.method {
		c.repeats = 0
	}
	c.method, c.outcome = by, *o
	if o.Kind == eviction.Interrupted {
		c.method = "" // it may not have begun, so the next call is reported as the first one
	}
	c.repeats++
	c.refused = c.refused || o.Kind == eviction.Refused || o.PreflightFirst
	if o.Kind == eviction.Unavailable && o.NodeRead {
		c.repeats = 0
	}
	if by == policy.Evict {
		c.refuse(now, o)
	}
	backoff, free := BackoffOf(o.Kind)
	wait := backoff.Wait(c.repeats-free, jitter)
	if o.Kind == eviction.Throttled {
		wait = o.RetryAfter
	}
	c.RequestNotBefore, c.DeleteNotBefore = now.Add(wait), now.Add(wait)
	if by == policy.Evict && concernsRequestAlone(o.Kind) {
		c.DeleteNotBefore = time.Time{}
	}
}

// episode is a series of requests to evict a pod that failed in a webhook, with no other outcome between them.
// Invariant: a failure joins the episode only if now - last <= policy.WebhookFailsEvery.
type episode struct{ began, last time.Time } // zero: the last outcome was not such a failure

// after returns the episode after an outcome.
func (e episode) after(now time.Time, o *eviction.Outcome) episode {
	switch {
	case !o.FailsInWebhook():
		return episode{}
	case e.began.IsZero() || now.Sub(e.last) > policy.WebhookFailsEvery:
		return episode{began: now, last: now}
	}
	return episode{began: e.began, last: now}
}

// refuse records whether the outcome of a request to evict the pod counts as a refusal. An episode of webhook failures
// that has lasted for policy.WebhookFailsFor counts as a refusal, too, from its first failure on.
func (c *calls) refuse(now time.Time, o *eviction.Outcome) {
	c.webhook = c.webhook.after(now, o)
	switch {
	case !c.RefusedSince.IsZero():
	case o.RefusesEviction():
		c.RefusedSince = now
	case c.webhook.last.Sub(c.webhook.began) >= policy.WebhookFailsFor:
		c.RefusedSince = c.webhook.began
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
