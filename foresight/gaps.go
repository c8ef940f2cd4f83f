package foresight

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// gaps counts what objects lack that the API server always has. A dump that somebody has edited may lack
// anything.
type gaps struct {
	namespaces map[string]int // pods by namespace, whatever the focus
	pods       int

	uids, phases, times int // pods without
	placeless           int // pods that run, and have no node
	nodeUIDs, nodeTimes int // nodes without
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

// Pods is how many pods were added in a namespace, or in all where it is empty, be they kept or not.
func (m *Model) Pods(namespace string) int {
	if namespace == "" {
		return m.gaps.pods
	}
	return m.gaps.namespaces[namespace]
}

// Namespaces are those in which pods were added.
func (m *Model) Namespaces() []string {
	var names []string
	for name := range m.gaps.namespaces {
		names = append(names, name)
	}
	return names
}

// Lacks says in a clause each what the objects lack that judging them by rests on.
func (m *Model) Lacks() []string {
	g := &m.gaps
	var list []string
	for _, lack := range []struct {
		n                int
		kind, what, then string
	}{
		{g.uids, "pod", "no metadata.uid", "pods are told apart by namespace and name"},
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

// Unjudged says in a clause each for which pods nothing can be said, and why.
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

func having(n int, kind string) string {
	if n == 1 {
		return "1 " + kind + " has"
	}
	return fmt.Sprintf("%d %ss have", n, kind)
}

// key tells pods apart: by their UIDs or, where they have none, by their names. No UID has a slash.
func (p *pod) key() types.UID {
	if p.UID != "" {
		return p.UID
	}
	return types.UID(p.Key())
}
