package foresight

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// SparedNode is a node whose outage only NoSchedule taints report.
type SparedNode struct {
	Name     string
	NotReady time.Time // since when; zero if that is not known
	Released bool      // it has the taint out-of-service
}

// spared returns the nodes whose outage is reported only by NoSchedule taints that evict no pod. It considers the
// nodes with these names, or all nodes if there are no names.
func (m *Model) spared(names []string) (nodes []SparedNode) {
	evicts := func(t v1.Taint) bool { return taint.ReportsOutage(t.Key) && m.rules.concerns(&t) }
	for name, n := range m.nodes {
		out := taint.OutageIn(n.Taints, v1.TaintEffectNoSchedule)
		if out && among(names, name) && !slices.ContainsFunc(n.Taints, evicts) {
			nodes = append(nodes, SparedNode{name, n.notReady, hasKey(n.Taints, v1.TaintNodeOutOfService)})
		}
	}
	return nodes
}

// sparedNote returns a note that says why no countdown has begun on these nodes, or why it has ended, and what to do;
// "" if there are no such nodes.
func sparedNote(nodes []SparedNode) string {
	if len(nodes) == 0 {
		return ""
	}
	slices.SortFunc(nodes, func(a, b SparedNode) int { return strings.Compare(a.Name, b.Name) })
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
		if !n.NotReady.IsZero() {
			names[i] += " (not ready since " + taint.Stamp(n.NotReady) + ")"
		}
	}
	node := Verb(len(nodes), nodes[0].Name, "NODE")
	note := Verb(len(nodes), "node ", "nodes ") + ShortList(names) + Verb(len(nodes), " has", " have") +
		" the not-ready or unreachable taint only with effect NoSchedule, which starts no countdown. " +
		"kube-controller-manager adds the NoExecute taints at a limited rate. It adds none while most nodes of the " +
		"zone are down, and removes them when it starts, when its leader changes, and while every zone is " +
		"disrupted. With --node-eviction-rate=1 it adds none after such a disruption until it starts again. Flux, " +
		"'kubectl apply' and Terraform remove them if a manifest of the node has taints"
	if slices.ContainsFunc(nodes, func(n SparedNode) bool { return n.NotReady.IsZero() }) {
		note += ". 'kubectl describe node " + node + "' shows when it became not ready"
	}
	if slices.ContainsFunc(nodes, func(n SparedNode) bool { return !n.Released }) {
		note += ". If the machine is off, 'kubectl taint node " + node + " " + v1.TaintNodeOutOfService +
			"=:NoExecute' evicts the pods at once"
	}
	return note
}
