package foresight

import (
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Prediction is the predicted verdict on a pod.
type Prediction struct {
	// Evict reports whether the pod is evicted.
	Evict bool `json:"evict"`

	// At is the deadline. A time in the past means at once.
	At *time.Time `json:"at,omitempty"`

	// Earliest is set if the start of a taint is not known: then it is the earliest possible deadline, and At is
	// the latest.
	Earliest *time.Time `json:"earliest,omitempty"`

	// Reason is the reason, in the manager's words.
	Reason string `json:"reason"`

	// Taint is the taint because of which the pod is evicted.
	Taint string `json:"taint,omitempty"`

	// Toleration is the toleration that matches the taint until the pod is evicted; empty if none does.
	Toleration string `json:"toleration,omitempty"`

	// ExposedSince is the start of the exposure; the latest possible one if Earliest is set.
	ExposedSince *time.Time `json:"exposedSince,omitempty"`

	// ExposedSinceEarliest is set if Earliest is: the earliest possible start of the exposure.
	ExposedSinceEarliest *time.Time `json:"exposedSinceEarliest,omitempty"`

	// SinceFrom is the source of the taint's start: journal, timeAdded, seen, plan (which sets the taint) or, if
	// there is none, unknown.
	SinceFrom string `json:"sinceFrom,omitempty"`
}

// judge returns the prediction for a pod on the node.
func (k *nodeEstimate) judge(p *taint.Pod, rules taint.Rules) Prediction {
	latest, earliest := taint.Decide(p, &k.latest.Node, rules), taint.Decide(p, &k.earliest.Node, rules)
	prediction := predictionOf(latest)
	if prediction.Evict {
		prediction.SinceFrom = k.from(latest.Taint)
	}
	if latest.Evict && earliest.Evict && earliest.At.Before(latest.At) {
		earliest = taint.Decide(atTheEarliest(p), &k.earliest.Node, rules)
		prediction.Earliest, prediction.ExposedSinceEarliest = utc(earliest.At), utc(earliest.Start)
		prediction.Reason += unsure(latest, earliest)
	}
	return prediction
}

// atTheEarliest returns the pod bound as early as possible: the API's times are whole seconds, cut off.
func atTheEarliest(p *taint.Pod) *taint.Pod {
	early := *p
	early.Bound = p.Bound.Add(-time.Second)
	return &early
}

// unsure returns the end of the reason if the deadline is a range.
func unsure(latest, earliest taint.Verdict) string {
	s := "; since when " + earliest.Taint.ToString() + " is there is not known: exposed since " + taint.Stamp(earliest.Start) + " at the earliest"
	if latest.Taint.MatchTaint(earliest.Taint) {
		s += ", since " + taint.Stamp(latest.Start) + " at the latest"
	}
	return s
}

func predictionOf(v taint.Verdict) Prediction {
	prediction := Prediction{Evict: v.Evict, Reason: v.Because()}
	if !v.Evict {
		return prediction
	}
	prediction.At, prediction.Taint, prediction.Toleration = utc(v.At), v.Taint.ToString(), unquoted(v.Toleration)
	prediction.ExposedSince = utc(v.Start)
	return prediction
}

// utc returns the time as JSON has it.
func utc(t time.Time) *time.Time {
	t = t.UTC().Round(0)
	return &t
}
