package cluster

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// nodeModel is what is used of a node object.
type nodeModel struct {
	guard.Node // without labels if they are not needed

	version string
	created time.Time
}

// value returns what is used of a node.
func (no *nodes) value(n *v1.Node, _ bool) nodeModel {
	m := nodeModel{
		Node:    guard.Node{Name: n.Name, UID: n.UID, Taints: slices.Clone(taint.Normalize(n.Spec.Taints))},
		version: n.ResourceVersion, created: n.CreationTimestamp.Time,
	}
	if no.needs.Load().NodeLabels {
		m.Labels = n.Labels
	}
	return m
}

// gap describes what may have been missed between two observations of a node. The zero gap means nothing.
type gap struct {
	listed  bool      // a list shows the node: the process may not have watched since the last observation
	watched time.Time // the last moment at which the process did watch; zero at its first list
}

// nodeState is a node as readers see it, with the state behind it.
type nodeState struct {
	*taint.Node

	history journal.NodeHistory
	version string // of the last observation
	needs   *needs // at the last observation
}

// next returns the state of a node after an observation of it, and reports whether the handler must be called.
func (no *nodes) next(old nodeState, m *nodeModel, g gap) (now nodeState, notify bool) {
	needs := no.needs.Load()
	same := old.Node != nil && old.UID == m.UID
	if !same {
		old.history, old.version, old.needs = journal.NodeHistory{}, "", needs
	}
	history, changed := no.observe(&old, m, g, needs)
	now = nodeState{history: history, version: m.version, needs: needs}
	if same && !changed {
		var relabelled bool
		now.Node, relabelled = sameTaints(old.Node, history, m)
		return now, relabelled && needs.NodeLabels && now.Tainted()
	}
	node := m.node(history)
	now.Node = &node
	return now, old.Node != nil || node.Tainted()
}

// observe passes an observation of the node to the journal.
func (no *nodes) observe(before *nodeState, m *nodeModel, g gap, n *needs) (history journal.NodeHistory, changed bool) {
	var keysBefore *journal.Keys
	if before.needs != n {
		keysBefore = new(n.keysSince(before.needs))
	}
	now := no.now()
	return before.history.Observe(journal.Observation{
		Taints: m.Taints, Keys: n.keys(), KeysBefore: keysBefore,
		At: now, Ahead: no.ahead.at(now), Created: m.created, Version: m.version, Before: before.version,
		Gap: g.listed, Watched: g.watched,
		Distinguishes: func(a, b *v1.Taint) bool { return no.distinguishes(m.Name, a, b) },
	})
}

// node returns the node with this history of its taints.
func (nm *nodeModel) node(history journal.NodeHistory) taint.Node {
	return taint.Node{
		Name: nm.Name, UID: nm.UID, Created: nm.created, Version: nm.version, Labels: nm.Labels,
		Taints: history.Taints(), Triggers: history.Triggers(), Audited: history.Audited(),
	}
}

// sameTaints returns the node after an observation that shows the same taints: with the version for its record, and
// with its present labels. It reports whether the labels have changed.
func sameTaints(n *taint.Node, history journal.NodeHistory, m *nodeModel) (now *taint.Node, relabelled bool) {
	version := history.UpTo(n.Version)
	relabelled = !maps.Equal(n.Labels, m.Labels)
	if version == n.Version && !relabelled {
		return n, false
	}
	node := *n
	node.Version = version
	if relabelled {
		node.Labels = m.Labels
	}
	return &node, relabelled
}

// adopted returns the state of a node with a record merged into it, and reports whether that changes anything.
func (no *nodes) adopted(old nodeState, r journal.Record) (merged nodeState, changed bool) {
	if !old.Tainted() {
		return old, false
	}
	now := no.now()
	history, changed := old.history.Adopt(r, journal.Observation{
		UID: old.UID, Created: old.Created, Version: old.version, At: now, Ahead: no.ahead.at(now),
		Keys: old.needs.keys(), Distinguishes: func(a, b *v1.Taint) bool { return no.distinguishes(old.Name, a, b) },
	})
	if !changed {
		return old, false
	}
	node := *old.Node
	node.Taints, node.Triggers = history.Taints(), history.Triggers()
	node.Version = history.UpTo(node.Version)
	return nodeState{Node: &node, history: history, version: old.version, needs: old.needs}, true
}

// distinguishes reports whether a pod of the node tolerates one of the taints without a limit, and the other not. While
// not all pods are known, there may be such a pod. Policies may distinguish states that pods do not.
func (no *nodes) distinguishes(node string, a, b *v1.Taint) bool {
	if !no.synced() || no.needs.Load().Distinguish(a, b) {
		return true
	}
	rules, both := *no.rules.Load(), []v1.Taint{*a, *b}
	for _, e := range no.pods(node) {
		p := e.against(both)
		if toleratesForever(p, a, rules) != toleratesForever(p, b, rules) {
			return true
		}
	}
	return false
}

// toleratesForever reports whether the pod tolerates the taint without a limit. For a NoSchedule taint, the first
// toleration that would match it with the effect NoExecute counts, and without any, one that matches it as it is.
func toleratesForever(p *taint.Pod, t *v1.Taint, rules taint.Rules) bool {
	if t.Effect == v1.TaintEffectNoExecute {
		return taint.ToleratesForever(p, t, rules)
	}
	as := v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectNoExecute}
	if taint.Matching(p, &as, rules) != nil {
		return taint.ToleratesForever(p, &as, rules)
	}
	return taint.Matching(p, t, rules) != nil
}
