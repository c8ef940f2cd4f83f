package foresight

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// gaps counts fields that objects lack and that the API server always sets. A dump that was edited may lack any
// field.
type gaps struct {
	namespaces map[string]int // number of pods by namespace, whatever the focus
	pods       int

	uids, phases, times int // number of pods without the field
	placeless           int // number of pods that run and have no node
	nodeUIDs, nodeTimes int // number of nodes without the field
}

func newGaps() gaps { return gaps{namespaces: map[string]int{}} }

func (g *gaps) node(n *v1.Node) {
	add(&g.nodeUIDs, n.UID == "")
	add(&g.nodeTimes, n.CreationTimestamp.IsZero())
}

func (g *gaps) pod(p *v1.Pod) {
	add(&g.uids, p.UID == "")
	add(&g.phases, p.Status.Phase == "")
	add(&g.times, p.CreationTimestamp.IsZero() && bindTime(p).IsZero())
	add(&g.placeless, p.Spec.NodeName == "" && p.Status.Phase != v1.PodPending && p.DeletionTimestamp == nil && p.Status.Phase != v1.PodFailed && p.Status.Phase != v1.PodSucceeded)
}

func add(n *int, yes bool) {
	if yes {
		*n++
	}
}

// Pods returns the number of pods that were added in a namespace, or in all if it is empty, including those not
// kept.
func (m *Model) Pods(namespace string) int {
	if namespace == "" {
		return m.gaps.pods
	}
	return m.gaps.namespaces[namespace]
}

// Namespaces returns the namespaces in which pods were added.
func (m *Model) Namespaces() []string {
	var names []string
	for name := range m.gaps.namespaces {
		names = append(names, name)
	}
	return names
}

// Lacks returns a clause for each field that judging depends on and that objects lack.
func (m *Model) Lacks() []string {
	g := &m.gaps
	var list []string
	for _, lack := range []struct {
		n                int
		kind, what, then string
	}{
		{g.uids, "pod", "no metadata.uid", "pods are identified by namespace and name"},
		{g.phases, "pod", "no status.phase", "a pod that has finished is judged as if it ran"},
		{g.times, "pod", "neither metadata.creationTimestamp nor the time of their condition PodScheduled", "such a pod counts as bound at the moment of the question"},
		{g.nodeUIDs, "node", "no metadata.uid", "what a journal has recorded of them does not count"},
		{g.nodeTimes, "node", "no metadata.creationTimestamp", "a taint without a usable timeAdded counts from the moment of the question"},
	} {
		if lack.n > 0 {
			list = append(list, fmt.Sprintf("%s %s, so %s", having(lack.n, lack.kind), lack.what, lack.then))
		}
	}
	return list
}

// Unjudged returns a clause for each group of pods without a prediction, with the reason.
func (m *Model) Unjudged(nodes []string) []string {
	var list []string
	if n := m.gaps.placeless; n > 0 {
		list = append(list, fmt.Sprintf("%s no spec.nodeName, and so no known taints, though not Pending", having(n, "pod")))
	}
	if m.byRecords || len(nodes) > 0 {
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
		list = append(list, fmt.Sprintf("%s a node that is missing (%s), and so no known taints", having(lost, "pod"), some))
	}
	return list
}

// UnknownNamespaces returns the sorted names of the namespaces of pods whose labels policies need and that were not
// added.
func (m *Model) UnknownNamespaces() []string {
	if !m.basis.needs.NamespaceLabels {
		return nil
	}
	missing := map[string]bool{}
	for _, p := range m.pods {
		if _, known := m.namespaces[p.Namespace]; !known {
			missing[p.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

func having(n int, kind string) string {
	if n == 1 {
		return "1 " + kind + " has"
	}
	return fmt.Sprintf("%d %ss have", n, kind)
}

// key identifies a pod: its UID or, if it has none, its name. No UID has a slash.
func (p *pod) key() types.UID {
	if p.UID != "" {
		return p.UID
	}
	return types.UID(p.Key())
}
