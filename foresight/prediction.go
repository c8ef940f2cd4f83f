package foresight

import (
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Prediction is what becomes of a pod.
type Prediction struct {
	// Evict says whether the pod goes.
	Evict bool `json:"evict"`

	// At is when it goes. A time that is over means at once.
	At *time.Time `json:"at,omitempty"`

	// Earliest is set where it is not known since when a taint is there: the pod goes then at the
	// earliest, and at At at the latest.
	Earliest *time.Time `json:"earliest,omitempty"`

	// Reason is why, as the manager says it.
	Reason string `json:"reason"`

	// Taint because of which the pod goes.
	Taint string `json:"taint,omitempty"`

	// Toleration that bears the taint until the pod goes; empty when none matches it.
	Toleration string `json:"toleration,omitempty"`

	// ExposedSince is when the time that the toleration grants began to run; at the latest, where
	// Earliest is set.
	ExposedSince *time.Time `json:"exposedSince,omitempty"`

	// ExposedSinceEarliest is set where Earliest is: the time began to run then at the earliest.
	ExposedSinceEarliest *time.Time `json:"exposedSinceEarliest,omitempty"`

	// SinceFrom is what tells since when the taint is there: journal, timeAdded, seen, plan (which
	// sets it) or, where nothing does, unknown.
	SinceFrom string `json:"sinceFrom,omitempty"`
}

// judge is the prediction for a pod on the node.
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

// atTheEarliest is the pod bound as early as it can have been: the API's times are whole seconds, cut off.
func atTheEarliest(p *taint.Pod) *taint.Pod {
	early := *p
	early.Bound = p.Bound.Add(-time.Second)
	return &early
}

// unsure ends the reason of a pod that goes sooner or later than it says.
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

// utc is a time as it is written in JSON.
func utc(t time.Time) *time.Time {
	t = t.UTC().Round(0)
	return &t
}
