package eviction

import (
	"time"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Request asks for one call: one attempt to evict one pod.
type Request struct {
	// Pod is the pod as the cache had it when the call was decided.
	Pod *taint.Pod

	// Verdict is the reason for the eviction; its At is the deadline.
	Verdict taint.Verdict

	// Method is Delete or Evict; empty means the evictor's own.
	Method policy.Method

	// Policy is the name of the policy that decides; empty if none matches.
	Policy string

	// GracePeriodSeconds is sent with the deletion; nil means the pod's own grace period.
	GracePeriodSeconds *int64

	// LateBy explains why the call starts later than the deadline; empty if nothing explains it.
	LateBy LateBy

	// Attempt counts the calls for this pod, from 1.
	Attempt int

	// First reports whether this is the first call for the pod by this method.
	First bool

	// AfterRefusal: an earlier call was refused, or has patched the condition without a deletion. This call patches the
	// condition only after a preflight of its deletion (a DELETE with dryRun=All) has passed.
	AfterRefusal bool

	// RefusedSince is when a request to evict the pod was first refused, by a budget, by admission, or by a webhook
	// that has failed for [policy.WebhookFailsFor]; zero if none was. A deletion by deleteAfter needs such a refusal.
	RefusedSince time.Time

	// Released is when the pod was last released from a hold, as far as this process has seen; zero if it never was.
	Released time.Time
}

// LateBy explains why a call starts, or ends, later than the deadline of its pod.
type LateBy string

// The explanations. Of several, the latest counts.
const (
	LateByNothing   LateBy = ""
	LateByRate      LateBy = "rate"       // the eviction has waited for a rate
	LateByHold      LateBy = "hold"       // a hold or a pause ended after the deadline
	LateByBudget    LateBy = "budget"     // a PodDisruptionBudget did not permit an earlier call
	LateBySlowCalls LateBy = "slow_calls" // calls take longer than a second, or a webhook failed one
	LateByOutage    LateBy = "outage"     // the API server could not be reached, or asked to wait
)

// LatenessLabels returns the labels of all explanations.
func LatenessLabels() []string {
	var all []string
	for _, l := range []LateBy{LateByNothing, LateByRate, LateByHold, LateByBudget, LateBySlowCalls, LateByOutage} {
		all = append(all, l.Label())
	}
	return all
}

// Label returns the explanation as metrics have it: "none" for LateByNothing.
func (l LateBy) Label() string {
	if l == LateByNothing {
		return "none"
	}
	return string(l)
}
