package cluster

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// nodeModel is what is used of a node object. It may have taints of any effect.
type nodeModel struct {
	name    string
	uid     types.UID
	version string
	created time.Time
	taints  []v1.Taint
	labels  map[string]string // nil if they are not needed
}

// modelOf returns what is used of a node.
func (no *nodes) modelOf(n *v1.Node) nodeModel {
	m := nodeModel{
		name: n.Name, uid: n.UID, version: n.ResourceVersion, created: n.CreationTimestamp.Time,
		taints: taint.Normalize(n.Spec.Taints),
	}
	if no.needs.Load().NodeLabels {
		m.labels = n.Labels
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
	same := old.Node != nil && old.UID == m.uid
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

// observe passes an observation of the node to the journal. A node without taints, before and now, needs no journal.
func (no *nodes) observe(before *nodeState, m *nodeModel, g gap, n *needs) (history journal.NodeHistory, changed bool) {
	if before.history.Empty() && !hasObserved(m.taints, n) {
		return before.history, false
	}
	var keysBefore *journal.Keys
	if before.needs != n {
		keysBefore = new(n.keysSince(before.needs))
	}
	name, now := m.name, no.now() // otherwise the model escapes to the heap
	return before.history.Observe(journal.Observation{
		Taints: m.taints, Keys: n.keys(), KeysBefore: keysBefore,
		At: now, Ahead: no.ahead.at(now), Created: m.created, Version: m.version, Before: before.version,
		Gap: g.listed, Watched: g.watched,
		Distinguishes: func(a, b *v1.Taint) bool { return no.distinguishes(name, a, b) },
	})
}

// hasObserved reports whether the journal observes one of the taints: those that are NoExecute, and the triggers.
func hasObserved(taints []v1.Taint, n *needs) bool {
	return slices.ContainsFunc(taints, func(t v1.Taint) bool {
		return t.Effect == v1.TaintEffectNoExecute || t.Effect == v1.TaintEffectNoSchedule && n.TriggeredBy(t.Key)
	})
}

// node returns the node with this history of its taints.
func (nm *nodeModel) node(history journal.NodeHistory) taint.Node {
	return taint.Node{
		Name: nm.name, UID: nm.uid, Created: nm.created, Version: nm.version, Labels: nm.labels,
		Taints: history.Taints(), Triggers: history.Triggers(), Audited: history.Audited(),
	}
}

// sameTaints returns the node after an observation that shows the same taints: with the version for its record, and
// with its present labels. It reports whether the labels have changed.
func sameTaints(n *taint.Node, history journal.NodeHistory, m *nodeModel) (now *taint.Node, relabelled bool) {
	version := history.UpTo(n.Version, m.version)
	relabelled = !maps.Equal(n.Labels, m.labels)
	if version == n.Version && !relabelled {
		return n, false
	}
	node := *n
	node.Version = version
	if relabelled {
		node.Labels = m.labels
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
	node.Version = history.UpTo(node.Version, old.version)
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
