package foresight

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// spared returns the nodes that have an outage by their NoSchedule taints alone, among these nodes, or among all if
// none is named.
func (m *Model) spared(names []string) (nodes []*node) {
	for name, n := range m.nodes {
		if among(names, name) && taint.OutageIn(n.Taints, v1.TaintEffectNoSchedule) && !dead(n.Taints) {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

// noteSpared notes why no countdown has begun on these nodes, or why it has ended, and what to do.
func (r *Remarks) noteSpared(nodes []*node) {
	if len(nodes) == 0 {
		return
	}
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
		if !n.notReady.IsZero() {
			names[i] += " (not ready since " + taint.Stamp(n.notReady) + ")"
		}
	}
	has := "node " + ShortList(names) + " has"
	if len(nodes) > 1 {
		has = "nodes " + ShortList(names) + " have"
	}
	r.note("%s not-ready or unreachable with the effect NoSchedule alone: kube-controller-manager has not set the "+
		"NoExecute taint yet, because it limits its rate or most nodes of the zone are down, or has lifted it, as it does "+
		"when it starts, changes its leader, or every zone is disrupted; countdowns begin when it sets that taint; if the "+
		"machine is off, 'kubectl taint node NODE %s=:NoExecute' evicts the pods at once", has, v1.TaintNodeOutOfService)
}
