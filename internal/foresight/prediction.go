package foresight

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Prediction says whether, when and why a pod will be evicted.
type Prediction struct {
	Evict bool `json:"evict"` // the pod is evicted

	At       *time.Time `json:"at,omitempty"`       // the latest possible deadline; a past one means at once
	Earliest *time.Time `json:"earliest,omitempty"` // the earliest possible deadline, if a taint's start is unknown

	Reason     string `json:"reason"`               // in the words of taint-manager's log
	Taint      string `json:"taint,omitempty"`      // the taint that evicts the pod
	Toleration string `json:"toleration,omitempty"` // the toleration that delays the eviction; empty if none does

	ExposedSince         *time.Time `json:"exposedSince,omitempty"`         // latest possible start of the countdown
	ExposedSinceEarliest *time.Time `json:"exposedSinceEarliest,omitempty"` // earliest possible start, if it is unknown

	// SinceFrom is the source of the taint's start: journal, timeAdded, seen, plan (the planned taint), policy (a
	// NoSchedule taint without a journal entry, assumed to be set now) or unknown.
	SinceFrom string `json:"sinceFrom,omitempty"`

	Policy   string     `json:"policy,omitempty"`   // name of the policy that decides; empty if none matches
	Method   string     `json:"method,omitempty"`   // what happens at the deadline: delete or evict
	DeleteAt *time.Time `json:"deleteAt,omitempty"` // when the pod is deleted if its eviction is still refused

	// DeletedBy is "the DaemonSet controller" for a DaemonSet's pod that does not tolerate a NoExecute taint, and
	// "device-taint-eviction-controller" for a device's taint. No policy, guard or budget applies then.
	DeletedBy string `json:"deletedBy,omitempty"`

	Device *UsedDevice `json:"device,omitempty"` // that has the taint; nil if the node has it
	// Also is the later eviction, or the held one, if both a taint of the node and a taint of a device evict the pod.
	Also *Prediction `json:"also,omitempty"`

	// Own is set if the pod belongs to taint-manager, which evicts its own pods last, one at a time.
	Own bool `json:"own,omitempty"`

	// HeldBy names the policy or the breaker that holds the pod. A pod that is held for one taint may be evicted for
	// another.
	HeldBy       string     `json:"heldBy,omitempty"`
	HeldDeadline *time.Time `json:"heldDeadline,omitempty"` // the deadline without the hold

	Audits []string `json:"audits,omitempty"` // a message for each Audit policy that would act differently
}

// EvictedOrHeld reports whether the pod is evicted or held.
func (p *Prediction) EvictedOrHeld() bool { return p.Evict || p.HeldBy != "" }

// Deadline returns the deadline; for a held pod, the one that it would have; nil if the pod stays.
func (p *Prediction) Deadline() *time.Time {
	if p.Evict {
		return p.At
	}
	return p.HeldDeadline
}

// overdueAfter is how late an eviction must be to count as overdue.
const overdueAfter = 10 * time.Second

// Overdue reports whether the deadline passed so long ago that the pod should be gone.
func (p *Prediction) Overdue(at time.Time) bool { return p.Evict && at.Sub(*p.At) > overdueAfter }

// predict returns the prediction for a pod, and the verdict behind it, by the latest starts of the taints.
func (r *rulesAt) predict(p *taint.Pod) (Prediction, policy.Verdict) {
	if e := r.nodes[p.Node]; e != nil {
		return e.predict(p, r)
	}
	verdict := r.Decide(p, nil)
	return r.predictionOf(p, nil, &verdict), verdict
}

// predict returns the prediction for a pod on the node, and the verdict behind it.
func (ne *nodeEstimate) predict(p *taint.Pod, by *rulesAt) (Prediction, policy.Verdict) {
	byLatest, byEarliest := by.Decide(p, &ne.latest.Node), by.Decide(p, &ne.earliest.Node)
	prediction := by.predictionOf(p, &ne.latest.Node, &byLatest, ne.taints...)
	if by.Audits() {
		prediction.Audits = by.audits(p, &ne.latest.Node)
	}
	latest, earliest := firstOrHeld(&byLatest), firstOrHeld(&byEarliest)
	if prediction.Evict {
		prediction.SinceFrom = ne.from(latest.Taint)
	}
	if earliest.Evict && earliest.At.Before(latest.At) {
		early := *p
		early.Bound = p.Bound.Add(-time.Second) // the API's times are whole seconds, cut off
		byEarliest = by.Decide(&early, &ne.earliest.Node)
		earliest = firstOrHeld(&byEarliest)
		prediction.Earliest, prediction.ExposedSinceEarliest = utc(earliest.At), utc(earliest.Start)
		prediction.Reason = unsure(prediction.Reason, latest, earliest)
	}
	return ne.orDeleted(p, prediction, by), byLatest
}

// firstOrHeld returns the verdict of the earliest action or, if the pod is only held, the one that it would have. A pod
// that stays has none.
func firstOrHeld(v *policy.Verdict) taint.Verdict {
	if v.Evicts() {
		return v.First()
	}
	return v.Held.Verdict
}

// unsure returns the reason with the range in which the countdown has started.
func unsure(reason string, latest, earliest taint.Verdict) string {
	since := taint.Stamp(latest.Start)
	if latest.Taint.MatchTaint(earliest.Taint) {
		return strings.Replace(reason, "countdown started at "+since,
			"countdown started between "+taint.Stamp(earliest.Start)+" and "+since, 1)
	}
	return reason + "; the start of " + earliest.Taint.ToString() + " is unknown: its countdown did not start before " +
		taint.Stamp(earliest.Start)
}

// share replaces the strings of a prediction by equal strings that other predictions share.
func (p *Prediction) share() {
	p.Reason, p.Taint, p.Toleration = sharedText(p.Reason), sharedText(p.Taint), sharedText(p.Toleration)
	p.Policy, p.Method, p.HeldBy = sharedText(p.Policy), sharedText(p.Method), sharedText(p.HeldBy)
}

// predictionOf returns the verdict on a pod as a prediction. A nil node is unknown. taints are the taints of the node.
func (r *rulesAt) predictionOf(p *taint.Pod, node *taint.Node, v *policy.Verdict, taints ...v1.Taint) Prediction {
	first := v.First()
	prediction := Prediction{Evict: first.Evict, Reason: first.Because()}
	if v.Held.By != 0 {
		prediction.HeldBy, prediction.HeldDeadline = v.Held.String(), utc(v.Held.Verdict.At)
	}
	switch {
	case first.Evict:
		prediction.At, prediction.ExposedSince = utc(first.At), utc(first.Start)
		prediction.Taint, prediction.Toleration = first.Taint.ToString(), unquoted(first.Toleration)
		prediction.byPolicy(v)
	case v.Held.By != 0:
		held := &v.Held.Verdict
		prediction.Taint, prediction.Policy = held.Taint.ToString(), v.Held.Policy
		prediction.ExposedSince, prediction.Toleration = utc(held.Start), unquoted(held.Toleration)
		prediction.Reason = HeldReason(prediction.HeldBy, held.At, held.Because())
	default:
		prediction.Policy, prediction.Reason = v.IgnoredBy, r.WhyStays(p, node, v, taints...)
	}
	return prediction
}

// HeldReason returns the reason for a held pod: what holds it, the deadline that it would have, and why.
func HeldReason(by string, deadline time.Time, because string) string {
	return "held by " + by + "; its deadline is " + taint.Stamp(deadline) + ": " + because
}

// byPolicy adds the policy of the earliest action.
func (p *Prediction) byPolicy(v *policy.Verdict) {
	method, action := v.Due(*p.At)
	if action == nil || action.Policy == "" {
		return
	}
	p.Policy, p.Method = action.Policy, method.Word()
	p.Reason += "; policy " + p.Policy + " decides"
	if method == policy.Evict && v.Delete.Evict {
		p.DeleteAt = utc(v.Delete.At)
		p.Reason += ", and deletes the pod at " + taint.Stamp(*p.DeleteAt) + " if the eviction is still refused"
	}
}

// audits returns a clause for each policy in mode Audit that matches a taint of the node.
func (r *rulesAt) audits(p *taint.Pod, node *taint.Node) []string {
	var list []string
	for _, pair := range r.Pairs(p, node) {
		for i := range pair.Audits {
			a := &pair.Audits[i]
			list = append(list, "policy "+a.Policy+" (Audit) "+would(a)+" because of taint "+pair.Taint.ToString())
		}
	}
	return list
}

// would returns a clause with the action of a policy on a pair.
func would(p *policy.PairDecision) string {
	switch {
	case p.Method == policy.Ignore:
		return "would ignore it"
	case !p.Evict:
		return "would keep it (tolerated without limit)"
	case p.Held.By != 0:
		return "would hold it"
	}
	s := "would " + p.Method.Word() + " it at " + taint.Stamp(p.At)
	if p.Method == policy.Evict && !p.Delete.At.IsZero() {
		s += " (and delete it at " + taint.Stamp(p.Delete.At) + ")"
	}
	return s
}
