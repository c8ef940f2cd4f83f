package foresight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// missing counts fields that objects lack and that the API server always sets. A dump that was edited may lack any
// field.
type missing struct {
	namespaces map[string]int // number of pods by namespace, whatever the focus
	pods       int

	uids, phases, times int // number of pods without the field
	placeless           int // number of pods that run and have no node
	nodeUIDs, nodeTimes int // number of nodes without the field
}

func (m *missing) node(n *v1.Node) {
	countIf(&m.nodeUIDs, n.UID == "")
	countIf(&m.nodeTimes, n.CreationTimestamp.IsZero())
}

func (m *missing) pod(p *v1.Pod) {
	countIf(&m.uids, p.UID == "")
	countIf(&m.phases, p.Status.Phase == "")
	countIf(&m.times, boundAt(p).IsZero())
	countIf(&m.placeless, p.Spec.NodeName == "" && p.Status.Phase != v1.PodPending && p.DeletionTimestamp == nil &&
		p.Status.Phase != v1.PodFailed && p.Status.Phase != v1.PodSucceeded)
}

func countIf(n *int, condition bool) {
	if condition {
		*n++
	}
}

// missingFields returns a clause for each field that verdicts depend on and that objects lack.
func (m *Model) missingFields() []string {
	g := &m.missing
	var list []string
	for _, lack := range []struct {
		n                int
		kind, what, then string
	}{
		{g.uids, "pod", "no metadata.uid", "pods are identified by namespace and name"},
		{g.phases, "pod", "no status.phase", "a pod that has finished is judged as if it ran"},
		{g.times, "pod", "neither metadata.creationTimestamp nor the time of their condition " +
			"PodScheduled", "such a pod counts as bound at the moment of the question"},
		{g.nodeUIDs, "node", "no metadata.uid", "what a journal has recorded of them does not count"},
		{g.nodeTimes, "node", "no metadata.creationTimestamp", "a taint without a usable timeAdded counts from the " +
			"moment of the question"},
	} {
		if lack.n > 0 {
			list = append(list, fmt.Sprintf("%s %s, so %s", having(lack.n, lack.kind), lack.what, lack.then))
		}
	}
	return list
}

// unjudged returns a clause for each group of pods without a prediction, with the reason. Where nothing was dumped, a
// missing object does not exist.
func (m *Model) unjudged(nodes []string) []string {
	var list []string
	if !m.reading.Dumped {
		return nil
	}
	if n := m.missing.placeless; n > 0 {
		list = append(list, fmt.Sprintf("%s no spec.nodeName, and so no known taints, "+
			"though not Pending", having(n, "pod")))
	}
	if m.Hidden() || len(nodes) > 0 {
		return list
	}
	lost, some := 0, ""
	for _, p := range m.pods {
		if p.Node != "" && m.nodes[p.Node] == nil && p.replica() {
			lost++
			if some == "" || p.Node < some {
				some = p.Node
			}
		}
	}
	if lost > 0 {
		list = append(list, fmt.Sprintf("%s a node that is missing (%s), and so no "+
			"known taints", having(lost, "pod"), some))
	}
	return list
}

// unknownNamespaces returns a clause about the namespaces whose labels policies need and that were not added.
func (m *Model) unknownNamespaces() []string {
	if !m.rules.needs.NamespaceLabels {
		return nil
	}
	unknown := map[string]bool{}
	for _, p := range m.pods {
		if _, ok := m.namespaces[p.Namespace]; !ok {
			unknown[p.Namespace] = true
		}
	}
	names := slices.Sorted(maps.Keys(unknown))
	if len(names) == 0 {
		return nil
	}
	which := fmt.Sprintf("%d namespaces", len(names))
	if len(names) == 1 {
		which = "one namespace"
	}
	cause := cmp.Or(m.reading.NamespacesRefused, "they are missing in what was read")
	return []string{fmt.Sprintf("the labels of %s (%s) are not known (%s), and policies select by them: their pods "+
		"count as held", which, ShortList(names), cause)}
}

// addBudgetsUnknown adds to an answer that PodDisruptionBudgets are not known: if an eviction asks them, the answer is
// incomplete.
func (m *Model) addBudgetsUnknown(r *Remarks, asked bool) {
	switch cause := m.reading.BudgetsUnknown; {
	case cause == "":
	case asked:
		r.Incomplete = append(r.Incomplete, cause+", so whether one blocks an eviction is not known; --no-budgets says "+
			"that there are none")
	default:
		r.Notes = append(r.Notes, cause+", so what they would say is not known")
	}
}

func having(n int, kind string) string {
	if n == 1 {
		return "1 " + kind + " has"
	}
	return Count(n, kind) + " have"
}
