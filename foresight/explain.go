package foresight

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Subject is a pod, and what there is to judge it by.
type Subject struct {
	Pod *v1.Pod

	// Node of the pod; nil when it is not there.
	Node *v1.Node

	// Recorded is what a journal tells of the node; the zero value where none does.
	Recorded Recorded

	// Events of the pod.
	Events []v1.Event

	At    time.Time
	Rules taint.Rules
}

// Explain says what becomes of a pod.
func Explain(s Subject) *Explanation {
	p := podOf(s.Pod, s.At)
	e := explanation(s.Pod.Namespace, s.Pod.Name, s.Events, s.At)
	e.Pod.UID, e.Pod.Node, e.Pod.Phase = string(p.UID), p.Node, string(p.Phase)
	if p.owner != (Owner{}) {
		e.Pod.Owner = &p.owner
	}
	if s.Pod.DeletionTimestamp != nil {
		e.Pod.Ends = utc(s.Pod.DeletionTimestamp.Time)
	}
	e.Disruption = disruption(s.Pod)
	s.judge(&p.Pod, e)
	return e
}

// ExplainGone says what is known of a pod that is not there: its events, which may be none.
func ExplainGone(namespace, name string, events []v1.Event, at time.Time) *Explanation {
	e := explanation(namespace, name, events, at)
	e.Pod.Gone = true
	return e
}

func explanation(namespace, name string, events []v1.Event, at time.Time) *Explanation {
	return &Explanation{
		APIVersion: APIVersion, Kind: "Explanation", At: *utc(at),
		Pod: ExplainedPod{Namespace: namespace, Name: name}, Events: told(events),
	}
}

// judge adds the pod's prediction, and what its node's taints have to do with it.
func (s *Subject) judge(p *taint.Pod, e *Explanation) {
	if s.Node == nil {
		prediction := predictionOf(taint.Decide(p, nil, s.Rules))
		e.Prediction = &prediction
		return
	}
	k := estimateOf(s.Node, s.Recorded, s.At)
	prediction := k.judge(p, s.Rules)
	e.Prediction = &prediction
	if !prediction.Evict && !bears(p, &k.latest.Node, s.Rules) {
		return
	}
	for i := range s.Node.Spec.Taints {
		e.Taints = append(e.Taints, s.explain(p, k, &s.Node.Spec.Taints[i]))
	}
	e.Warnings = shadowed(p, s.Node.Spec.Taints, s.Rules)
	e.Notes = swapped(prediction)
}

// swapped notes that a taint may have begun before the time that it carries.
func swapped(f Prediction) []string {
	key := f.Taint[:max(0, strings.IndexAny(f.Taint, "=:"))]
	if f.SinceFrom != FromTimeAdded || key != v1.TaintNodeNotReady && key != v1.TaintNodeUnreachable {
		return nil
	}
	return []string{Swapped}
}

// Swapped is to be known where the time of not-ready or unreachable is all that tells since when it is
// there.
const Swapped = "not-ready and unreachable count as one taint, whose time is set anew whenever one takes the place of the other: " +
	"a manager that has seen the first of them counts from then, and the pod goes earlier"

// bears says whether a pod stays because of its node's taints, and not because of itself.
func bears(p *taint.Pod, n *taint.Node, rules taint.Rules) bool {
	stay := taint.Decide(p, n, rules).Stay
	return stay == taint.Tolerated || stay == taint.NotTainted
}

// explain says what one taint alone would do.
func (s *Subject) explain(p *taint.Pod, k nodeEstimate, t *v1.Taint) ExplainedTaint {
	explained := ExplainedTaint{Taint: t.ToString()}
	if toleration := taint.Matching(p, t, s.Rules); toleration != nil {
		explained.Toleration, explained.TolerationSeconds = unquoted(toleration), toleration.TolerationSeconds
	}
	latest := stateOf(k.latest.Taints, t)
	if latest == nil {
		return explained
	}
	explained.Since, explained.SinceFrom = utc(latest.Since), k.from(t)
	if earliest := stateOf(k.earliest.Taints, t); earliest.Since.Before(latest.Since) {
		explained.SinceEarliest = utc(earliest.Since)
	}
	only := k.onlyTaint(t)
	prediction := only.judge(p, s.Rules)
	explained.Prediction = &prediction
	return explained
}

func disruption(p *v1.Pod) *Disruption {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type != v1.DisruptionTarget || c.Status != v1.ConditionTrue {
			continue
		}
		d := &Disruption{Reason: c.Reason, Message: c.Message}
		if !c.LastTransitionTime.IsZero() {
			d.Since = utc(c.LastTransitionTime.Time)
		}
		return d
	}
	return nil
}

// told are the events in the order of their times.
func told(events []v1.Event) []Event {
	var list []Event
	for i := range events {
		e := &events[i]
		list = append(list, Event{*utc(eventTime(e)), e.Type, e.Reason, e.Message})
	}
	slices.SortStableFunc(list, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return list
}

// eventTime is when an event happened last: who writes events fills one field or another.
func eventTime(e *v1.Event) time.Time {
	return cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time, e.CreationTimestamp.Time)
}
