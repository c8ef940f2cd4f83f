package cluster

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// trim returns a node with only the fields in use. It has labels only if they are needed. It has the entry of
// managedFields that owns the taints if the node was listed and a taint lacks its timeAdded.
func (no *nodes) trim(n *v1.Node, listed bool) *v1.Node {
	used := &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, CreationTimestamp: n.CreationTimestamp,
	}}
	used.Spec.Taints, used.Status.Conditions = slices.Clone(taint.Normalize(n.Spec.Taints)), n.Status.Conditions
	needs := no.needs.Load()
	if needs.NodeLabels {
		used.Labels = n.Labels
	}
	if listed && needs.keys().Untimed(used.Spec.Taints) {
		if written := journal.TaintsWritten(n.ManagedFields); written != nil {
			used.ManagedFields = []metav1.ManagedFieldsEntry{*written}
		}
	}
	return used
}

// nodeState is a node as readers see it, with the state behind it.
type nodeState struct {
	*taint.Node

	history  journal.NodeHistory
	version  string    // of the last observation
	needs    *needs    // at the last observation
	notReady time.Time // since when, at the last observation; see NotReadySince
}

// next returns the state of a node after an observation of it, and what the handler must be told. If a list shows the
// node, the process may have missed changes since the previous observation.
func (no *nodes) next(old nodeState, n *v1.Node, listed bool) (now nodeState, change journal.Change) {
	needs := no.needs.Load()
	same := old.Node != nil && old.UID == n.UID
	if !same {
		old.history, old.version, old.needs = journal.NodeHistory{}, "", needs
	}
	history, change := no.historyAfter(&old, n, listed, needs)
	now = nodeState{history: history, version: n.ResourceVersion, needs: needs, notReady: NotReadySince(n)}
	now.Node = &taint.Node{
		Name: n.Name, UID: n.UID, Created: n.CreationTimestamp.Time, Labels: n.Labels,
		Taints: history.Taints(), Triggers: history.Triggers(), Audited: history.Audited(),
		Outage: taint.OutageIn(n.Spec.Taints, v1.TaintEffectNoSchedule),
	}
	switch {
	case !same || change.History:
		change.History = old.Node != nil || now.Tainted()
		change.Record = change.History
	case needs.NodeLabels && !maps.Equal(old.Labels, n.Labels):
		change.History = now.Tainted()
	}
	return now, change
}

// historyAfter returns the history of a node after an observation of it, and what has changed.
func (no *nodes) historyAfter(
	before *nodeState, n *v1.Node, listed bool, needs *needs,
) (journal.NodeHistory, journal.Change) {
	o := journal.Observation{
		Viewpoint: no.viewpoint(n.Name, n.CreationTimestamp.Time, needs),
		Taints:    n.Spec.Taints, Version: n.ResourceVersion, Before: before.version, Gap: listed,
	}
	if before.needs != needs {
		o.Renewed = needs.renewedSince(before.needs)
	}
	if listed {
		o.LastWatch = no.LastWatch()
		if written := journal.TaintsWritten(n.ManagedFields); written != nil {
			o.Written = written.Time.Time
		}
	}
	return before.history.Observe(o)
}

// viewpoint returns what this process knows when it reads a node now.
func (no *nodes) viewpoint(name string, created time.Time, needs *needs) journal.Viewpoint {
	return journal.Viewpoint{
		At: no.ahead.At(no.now()), Created: created, Keys: needs.keys(),
		Distinguishes: func(a, b *v1.Taint) bool { return no.distinguishes(name, a, b) },
	}
}

// applyRecord returns the state of a node with the starts of a record, and reports whether that changes the history.
func (no *nodes) applyRecord(old nodeState, r journal.Record, last journal.LastWatch) (now nodeState, changed bool) {
	if !old.Tainted() {
		return old, false
	}
	from := no.viewpoint(old.Name, old.Created, old.needs)
	from.LastWatch = last
	history, changed := old.history.ApplyRecord(old.UID, r, from)
	node := *old.Node
	node.Taints, node.Triggers = history.Taints(), history.Triggers()
	old.Node, old.history = &node, history
	return old, changed
}

// distinguishes reports whether a pod of the node tolerates one of the taints forever, but not the other. It also
// returns true while not all pods are known, and if policies may distinguish the taints.
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

// toleratesForever reports whether the pod tolerates the taint forever. For a NoSchedule taint, the first toleration
// that would match it with the effect NoExecute counts; if there is none, one that matches the taint itself.
func toleratesForever(p *taint.Pod, t *v1.Taint, rules taint.Rules) bool {
	as := v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectNoExecute}
	if t.Effect == v1.TaintEffectNoExecute || taint.Matching(p, &as, rules) != nil {
		return taint.ToleratesForever(p, &as, rules)
	}
	return taint.Matching(p, t, rules) != nil
}
