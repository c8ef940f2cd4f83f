package foresight

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// planned is a pod with its prediction.
type planned struct {
	*pod
	result   *PlannedPod
	selected bool // on a node in question
	waits    bool // until budgets admit its eviction
}

// effect returns the effect of the changes on a pod, by the predictions with them and without.
func effect(with, without *Prediction) string {
	switch {
	case !with.Evict && with.HeldBy != "":
		return Held
	case !with.Evict && !without.Evict:
		return Stays
	case !with.Evict:
		return Saved
	case !without.Evict:
		return Evicted
	case with.At.Before(*without.At):
		return Sooner
	case with.At.After(*without.At):
		return Later
	}
	return Anyway
}

// Plan predicts the effect of the changes. It returns an error if the nodes in question or their taints do not
// exist.
func (m *Model) Plan(q Question) (*Plan, error) {
	nodes, err := m.selected(&q.Selection)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Header: header("Plan", q.At), EvictionMethod: m.rules.method(), Compared: q.Compared, Focus: m.focus}
	views := m.views(plan, nodes, q)
	if err := absent(plan.Nodes, q.Changes); err != nil {
		return nil, err
	}
	by := m.planRules(views, q)
	pods := m.planPods(views, by, q)
	slices.SortFunc(pods, inOrder)
	plan.Budgets = orNone(ask(inNames(m.budgets), pods))
	plan.count(pods, m.replicasOf())
	plan.Remarks = m.remarks(&by.with, q.At, plan.doubts(), m.rules.notes(q.Changes, plan.Nodes))
	plan.Notes = append(plan.Notes, m.staleNote(nil, q.At)...)
	plan.Incomplete = m.gaps(q.Names)
	plan.BudgetsUnknown = m.reading.BudgetsUnknown != ""
	m.addBudgetsUnknown(&plan.Remarks, slices.ContainsFunc(plan.Pods, plan.AsksBudgets))
	return plan, nil
}

// doubts returns the doubts about the times of the plan.
func (p *Plan) doubts() (d doubts) {
	for _, pod := range p.Pods {
		d.unsure = d.unsure || pod.Earliest != nil || pod.Without != nil && pod.Without.Earliest != nil
		d.asIfNow = d.asIfNow || pod.SinceFrom == FromPolicy
	}
	return d
}

// selected returns the nodes in question, by their names.
func (m *Model) selected(s *Selection) (map[string]*node, error) {
	if err := m.checkNodes(s.Names); err != nil {
		return nil, err
	}
	found := map[string]*node{}
	for name, n := range m.nodes {
		if s.selects(n.object) {
			found[name] = n
		}
	}
	if len(found) == 0 {
		return nil, &QuestionError{What: "no node matches " + s.Selector.String(), Kubectl: "get nodes --show-labels"}
	}
	return found, nil
}

// replicasOf returns the number of pods of each owner.
func (m *Model) replicasOf() map[ownerKey]int {
	all := maps.Clone(m.replicas)
	for _, p := range m.pods {
		if p.owner != (Owner{}) && p.replica() {
			all[keyOf(p)]++
		}
	}
	return all
}

// ownerKey identifies an owner.
type ownerKey struct {
	namespace string
	owner     Owner
}

func keyOf(p *pod) ownerKey { return ownerKey{p.Namespace, p.owner} }

// view is a node before and after the changes.
type view struct {
	before, after nodeEstimate
	taints        []v1.Taint // after
	selected      bool       // in question
}

// views returns the views of the nodes in question, and of the other nodes with taints that may evict. It applies the
// changes to the nodes in question.
func (m *Model) views(plan *Plan, selected map[string]*node, q Question) map[string]view {
	views := map[string]view{}
	for name, n := range m.nodes {
		v := view{n.estimate, n.estimate, n.object.Spec.Taints, selected[name] != nil}
		if !v.selected && !m.concerned(n) {
			continue
		}
		if q.Compare != nil {
			v.before = estimateOf(q.Compare, n.object, m.records[name], m.at)
		}
		if v.selected {
			plan.Nodes = append(plan.Nodes, PlannedNode{Name: name, Changes: m.change(&v, n, q)})
		}
		views[name] = v
	}
	slices.SortFunc(plan.Nodes, func(a, b PlannedNode) int { return cmp.Compare(a.Name, b.Name) })
	return views
}

// change applies the changes to the view of a node. If configurations are compared, the node gets the taints under
// both.
func (m *Model) change(v *view, n *node, q Question) (done []NodeChange) {
	v.taints, done = apply(q.Changes, v.taints)
	changed := trimmed(n.object)
	changed.Spec.Taints, changed.ResourceVersion = v.taints, ""
	v.after = v.after.with(&m.rules, changed, q.At)
	if q.Compare != nil {
		v.before = v.before.with(q.Compare, changed, q.At)
	}
	return done
}

// planRules holds the rules with the changes and without them.
type planRules struct{ with, without rulesAt }

// planRules returns the rules of a plan. A breaker trips by the taints that the nodes would have.
func (m *Model) planRules(views map[string]view, q Question) *planRules {
	taints := map[string][]v1.Taint{}
	for name := range views {
		if views[name].selected {
			taints[name] = views[name].taints
		}
	}
	with := m.rulesAt(&m.rules, q.At, taints)
	if q.Compare == nil {
		return &planRules{with, m.rulesNow(q.At)}
	}
	return &planRules{with, m.rulesAt(q.Compare, q.At, taints)}
}

// planPods returns the predictions for the pods of the nodes in question, and for pods that are evicted from other
// nodes.
func (m *Model) planPods(views map[string]view, by *planRules, q Question) []*planned {
	var pods []*planned
	for _, p := range m.pods {
		v, ok := views[p.Node]
		if !ok {
			continue
		}
		if result := m.planPod(p, &v, by, q.At); v.selected || result.Evict {
			pods = append(pods, &planned{pod: p, result: result, selected: v.selected})
		}
	}
	return pods
}

func (m *Model) planPod(p *pod, v *view, by *planRules, at time.Time) *PlannedPod {
	with, verdict := v.after.predict(&p.Pod, &by.with)
	without, _ := v.before.predict(&p.Pod, &by.without)
	result := &PlannedPod{
		PodRef: p.ref(), Prediction: with, Effect: effect(&with, &without),
		Original: v.after.original(&p.Pod, &verdict, by.with.ruleset),
	}
	result.share()
	if without.Evict {
		without.share()
		result.Without = new(without) // a pod that stays keeps none in memory
	}
	if result.SinceFrom == FromSight {
		result.SinceFrom = FromPlan
	}
	if result.Evict {
		result.InSeconds = new(max(0, result.At.Sub(at).Seconds()))
	}
	if result.Evict && v.selected {
		result.Warnings = shadowed(&p.Pod, v.taints, m.rules.config.Rules)
		result.FirstMatch = len(result.Warnings) > 0
		result.Warnings = append(result.Warnings, m.returnsToNode(&p.Pod, v, &verdict)...)
	}
	return result
}

// inOrder sorts the pods to be evicted first, by their deadlines, and then by their names.
func inOrder(a, b *planned) int {
	switch {
	case a.result.Evict && !b.result.Evict:
		return -1
	case b.result.Evict && !a.result.Evict:
		return 1
	case a.result.Evict && !a.result.At.Equal(*b.result.At):
		return a.result.At.Compare(*b.result.At)
	}
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// orNone returns an empty list instead of nil, so that JSON has [] and not null.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
