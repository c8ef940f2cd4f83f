package foresight

import (
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Fate is what becomes of a pod.
type Fate struct {
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

	// SinceFrom is what tells since when the taint is there: journal, timeAdded, seen, plan (which
	// sets it) or, where nothing does, unknown.
	SinceFrom string `json:"sinceFrom,omitempty"`
}

// judge is the fate of a pod on the node.
func (k *known) judge(p *taint.Pod, rules taint.Rules) Fate {
	latest, earliest := taint.Decide(p, &k.latest.Node, rules), taint.Decide(p, &k.earliest.Node, rules)
	fate := fateOf(latest)
	if fate.Evict {
		fate.SinceFrom = k.from(latest.Taint)
	}
	if latest.Evict && earliest.Evict && earliest.At.Before(latest.At) {
		earliest = taint.Decide(atTheEarliest(p), &k.earliest.Node, rules)
		fate.Earliest = utc(earliest.At)
		fate.Reason += unsure(latest, earliest)
	}
	return fate
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

func fateOf(v taint.Verdict) Fate {
	fate := Fate{Evict: v.Evict, Reason: v.Because()}
	if !v.Evict {
		return fate
	}
	fate.At, fate.Taint, fate.Toleration = utc(v.At), v.Taint.ToString(), unquoted(v.Toleration)
	fate.ExposedSince = utc(v.Start)
	return fate
}

// utc is a time as it is written in JSON.
func utc(t time.Time) *time.Time {
	t = t.UTC().Round(0)
	return &t
}
