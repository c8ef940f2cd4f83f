package foresight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// find returns the namespaces that have a pod of this name or, if there are none, those with events about it.
func (m *Model) find(name string) []string {
	var list []string
	for _, p := range m.pods {
		if p.Name == name {
			list = append(list, p.Namespace)
		}
	}
	for i := range m.events {
		if o := &m.events[i].InvolvedObject; len(list) == 0 && o.Name == name {
			list = append(list, o.Namespace)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Explain explains the verdict on a pod. If namespace is empty, Explain takes a namespace that has a pod of this name
// or, if none has, events about the pod. Of a pod that is gone Explain returns the events alone. It returns an error if
// nothing can be said of the pod.
func (m *Model) Explain(namespace, name string, at time.Time) (*Explanation, error) {
	if found := m.find(name); namespace == "" && len(found) > 0 {
		namespace = found[0]
	}
	p := m.named(namespace, name)
	e := &Explanation{
		Header: header("Explanation", at), Pod: ExplainedPod{Namespace: namespace, Name: name},
		Events: m.eventsOf(namespace, name, p), EvictionMethod: m.rules.method(), read: m.readBefore(at),
	}
	if p == nil {
		e.Pod.Gone, e.Notes, e.Warnings = true, m.readingNotes(), m.reading.Warnings
		m.addPast(e, nil)
		return e, nil
	}
	if unknown := append(m.unjudged(nil), m.unknownNamespaces()...); len(unknown) > 0 {
		return nil, fmt.Errorf("cannot say what becomes of pod %s: in %s %s", p.Key(), m.reading.From, joined(unknown))
	}
	e.Pod.UID, e.Pod.Node, e.Pod.Phase, e.Pod.Owner = string(p.UID), p.Node, string(p.Phase), p.ownerOrNil()
	e.Pod.Ends, e.Disruption, e.Stuck = p.ends, p.disruption, m.stuck(p, e.read)
	e.Budgets = m.budgetsOf(p)
	by := m.rulesNow(at)
	d := m.explainPod(p, e, &by)
	m.addPast(e, p)
	e.Blocker = cmp.Or(e.Blocker, e.budgetInTheWay())
	e.Commands = m.commands(p, e)
	e.Remarks = m.remarks(&by, at, d, nil)
	e.Incomplete = m.unknownMatches(nil)
	if len(e.Taints) > 0 {
		e.Warnings = append(e.Warnings, shadowed(&p.Pod, m.nodes[p.Node].object.Spec.Taints, m.rules.config.Rules)...)
	}
	if e.Prediction.Evict {
		m.addBudgetsUnknown(&e.Remarks, e.Method() == evictMethod)
		e.Notes = append(e.Notes, m.staleNote([]string{p.Node}, at)...)
	}
	return e, nil
}

// budgetsOf returns the budgets that select the pod; none if the pod can no longer be evicted.
func (m *Model) budgetsOf(p *pod) []ExplainedBudget {
	var list []ExplainedBudget
	if !p.replica() {
		return nil
	}
	budgets := inNames(m.budgets)
	indexes, asked := covering(budgets, p)
	for _, i := range indexes {
		list = append(list, ExplainedBudget{budgets[i].name, budgets[i].admits, asked})
	}
	return list
}

// named returns the pod of this name, or nil.
func (m *Model) named(namespace, name string) *pod {
	for _, p := range m.pods {
		if p.Namespace == namespace && p.Name == name {
			return p
		}
	}
	return nil
}

// eventsOf returns the events of this very pod, not of an earlier one of its name, in the order of their times; all
// events of the name if the pod is gone.
func (m *Model) eventsOf(namespace, name string, p *pod) []Event {
	var list []Event
	for i := range m.events {
		e, o := &m.events[i], &m.events[i].InvolvedObject
		if o.Namespace == namespace && o.Name == name && (p == nil || o.UID == "" || p.UID == "" || o.UID == p.UID) {
			list = append(list, eventOf(e))
		}
	}
	slices.SortStableFunc(list, byTime)
	return list
}

// explainPod adds the pod's prediction, and what each taint of the pod's node contributes to the prediction.
func (m *Model) explainPod(p *pod, e *Explanation, by *rulesAt) (d doubts) {
	n := m.nodes[p.Node]
	if n == nil {
		verdict := by.Decide(&p.Pod, m.unseen(p.Node))
		e.Prediction = new(predictionOf(&verdict))
		return d
	}
	prediction, verdict := n.estimate.predict(&p.Pod, by)
	e.Prediction, e.Original = &prediction, n.estimate.original(&p.Pod, &verdict, by.ruleset)
	if !prediction.Evict && !staysByTaints(&verdict) {
		return d
	}
	for i := range n.object.Spec.Taints {
		t := m.explain(p, n, &n.object.Spec.Taints[i], by, e.At)
		d.unsure, d.asIfNow = d.unsure || t.SinceFrom == NotKnown, d.asIfNow || t.SinceFrom == FromPolicy
		e.Taints = append(e.Taints, t)
	}
	d.swapped = prediction.isSwapped()
	return d
}

// unseen returns the node to judge by if the model has no node of this name: nil, or a node without taints if the
// nodes come from the journal, as the journal has records of tainted nodes only.
func (m *Model) unseen(name string) *taint.Node {
	if !m.Hidden() {
		return nil
	}
	return &taint.Node{Name: name}
}

// isSwapped reports whether the taint may have started before its timeAdded, which is set anew at each swap.
func (p *Prediction) isSwapped() bool {
	key := p.Taint[:max(0, strings.IndexAny(p.Taint, "=:"))]
	return p.SinceFrom == FromTimeAdded && (key == v1.TaintNodeNotReady || key == v1.TaintNodeUnreachable)
}

// staysByTaints reports whether a pod stays because of its node's taints, and not because of the pod's own state.
func staysByTaints(v *policy.Verdict) bool {
	return v.Stay == taint.Tolerated || v.Stay == taint.NotTainted || v.Held.By != 0
}

// explain explains what one taint alone would do.
func (m *Model) explain(p *pod, n *node, t *v1.Taint, by *rulesAt, at time.Time) ExplainedTaint {
	k := n.estimate
	explained := ExplainedTaint{Taint: t.ToString()}
	if toleration := m.matching(&p.Pod, t); toleration != nil {
		explained.Toleration, explained.TolerationSeconds = unquoted(toleration), toleration.TolerationSeconds
	}
	latest, earliest := stateOf(k.latest.histories(), t), stateOf(k.earliest.histories(), t)
	if latest == nil {
		return explained
	}
	explained.Since, explained.SinceFrom = utc(latest.Since), k.from(t)
	if earliest.Since.Before(latest.Since) {
		explained.SinceEarliest = utc(earliest.Since)
	}
	only := k.onlyTaint(t)
	prediction, _ := only.predict(&p.Pod, by)
	explained.Prediction = &prediction
	explained.Arithmetic = n.arithmetic(p, t, &explained, at)
	return explained
}

// matching returns the toleration that counts, or nil. For a trigger, tolerations count as if the effect of the taint
// were NoExecute. If no toleration matches then, a toleration that matches the taint itself counts.
func (m *Model) matching(p *taint.Pod, t *v1.Taint) *v1.Toleration {
	if m.rules.triggers(t) {
		asNoExecute := v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectNoExecute}
		if toleration := taint.Matching(p, &asNoExecute, m.rules.config.Rules); toleration != nil {
			return toleration
		}
	}
	return taint.Matching(p, t, m.rules.config.Rules)
}

// eventTime returns when an event happened last. Clients that write events fill in different fields.
func eventTime(e *v1.Event) time.Time {
	return cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time, e.CreationTimestamp.Time)
}
