package foresight

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// Model holds the known state of a cluster, and answers questions about it: [Model.Plan], [Model.Pending] and
// [Model.Explain].
//
// A [Builder] makes it. Objects that change later are updated, and count from then, as in a manager. A Model must not
// be used by several goroutines at once.
type Model struct {
	rules   Ruleset
	focus   Focus
	reading Reading
	at      time.Time // for which it was loaded

	nodes      map[string]*node
	namespaces map[string]map[string]string // labels
	pods       map[types.UID]*pod
	budgets    map[string]budget
	records    map[string]journal.Record // by node
	guards     guards
	events     []v1.Event

	replicas map[ownerKey]int // of pods that are not kept
	shared   sharing
	missing  missing
}

// Focus selects the pods that a model keeps; the zero value keeps all.
type Focus struct {
	// Namespace of the pods; empty for all.
	Namespace string

	// Labels of the pods; nil for all.
	Labels labels.Selector

	// Nodes in question. Of other nodes the model keeps the pods on those with NoExecute taints only, and counts
	// the rest by owner. Nil keeps the pods of all nodes.
	Nodes *Selection
}

// selects reports whether the pod is in the focus, on whatever node.
func (f *Focus) selects(p *v1.Pod) bool {
	in := f.Namespace == "" || f.Namespace == p.Namespace
	return in && (f.Labels == nil || f.Labels.Matches(labels.Set(p.Labels)))
}

// Words ends a sentence with the selected pods, on these nodes: " in namespace shop on n1 for pods with app=web".
func (f Focus) Words(nodes []string) string {
	var words string
	if f.Namespace != "" {
		words += " in namespace " + f.Namespace
	}
	if len(nodes) > 0 {
		words += " on " + ShortList(nodes)
	}
	if f.Labels != nil && !f.Labels.Empty() {
		words += " for pods with " + f.Labels.String()
	}
	return words
}

// Selection selects nodes: by these names or, if there are none, by the selector.
type Selection struct {
	Names    []string
	Selector labels.Selector
}

// selects reports whether the node is in the selection.
func (s *Selection) selects(n *v1.Node) bool {
	if len(s.Names) > 0 {
		return slices.Contains(s.Names, n.Name)
	}
	return s.Selector != nil && s.Selector.Matches(labels.Set(n.Labels))
}

// among reports whether a node is one of these; every node is if none is named.
func among(nodes []string, name string) bool { return len(nodes) == 0 || slices.Contains(nodes, name) }

// node is a node with the estimate of its taints.
type node struct {
	object   *v1.Node // its metadata and taints
	estimate nodeEstimate
}

// trimmed returns the node without the fields that the package does not use.
func trimmed(n *v1.Node) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name, UID: n.UID, CreationTimestamp: n.CreationTimestamp,
			Labels: n.Labels, ResourceVersion: n.ResourceVersion,
		},
		Spec: v1.NodeSpec{Taints: n.Spec.Taints},
	}
}

// At returns the time for which the model was loaded.
func (m *Model) At() time.Time { return m.at }

// Hidden reports whether the nodes are those of the journal, because this user may not read nodes.
func (m *Model) Hidden() bool { return m.reading.Hidden != "" }

// partial reports whether some nodes of the cluster may not be in the model.
func (m *Model) partial() bool { return m.reading.Partial || m.Hidden() }

// matters reports whether the pods of a node are kept.
func (m *Model) matters(n *node) bool {
	return m.focus.Nodes == nil || m.focus.Nodes.selects(n.object) || m.concerned(n)
}

// concerned reports whether pods may have to go because of a taint of the node.
func (m *Model) concerned(n *node) bool {
	return slices.ContainsFunc(n.object.Spec.Taints, func(t v1.Taint) bool { return m.rules.concerns(&t) })
}

// tainted returns the names of the nodes with NoExecute taints, or others that policies make triggers, among these
// nodes, or among all if none is named.
func (m *Model) tainted(nodes []string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.nodes)), func(name string) bool {
		return !m.concerned(m.nodes[name]) || !among(nodes, name)
	})
}

// countReplica counts a pod that is not kept for its owner.
func (m *Model) countReplica(p *pod) {
	if p.owner != (Owner{}) && p.replica() {
		m.replicas[keyOf(p)]++
	}
}

// loadJournal takes in all partitions of the journal, as they are at this time. If the nodes are hidden, the nodes of
// the model are those that have records.
func (m *Model) loadJournal(at time.Time) {
	m.guards, m.records = m.reading.Journal.guards(), m.reading.Journal.records()
	if m.Hidden() {
		m.nodes = map[string]*node{}
		for name, record := range m.records {
			m.nodes[name] = &node{object: nodeOf(name, record)}
		}
	}
	for name, n := range m.nodes {
		n.estimate = estimateOf(&m.rules, n.object, m.records[name], at)
	}
}

// UpdateJournal takes in a version of a partition of the journal, or the error of reading it, at this time.
func (m *Model) UpdateJournal(number int, stored journal.StoredPartition, err error, at time.Time) {
	if !m.reading.Journal.Add(number, stored, err) {
		return
	}
	if m.Hidden() {
		m.loadJournal(at)
		return
	}
	m.guards = m.reading.Journal.guards()
	for name, record := range m.reading.Journal.partitions[number].Records {
		m.records[name] = record
		if n, ok := m.nodes[name]; ok {
			n.estimate = n.estimate.adopt(&m.rules, record, at)
		}
	}
}

// UpdateNode adds or replaces a node that was observed to appear or to change at this time.
func (m *Model) UpdateNode(n *v1.Node, at time.Time) {
	before, ok := m.nodes[n.Name]
	same := ok && before.object.UID == n.UID
	switch {
	case same && older(n, before.object): // a list may come from a cache that lags behind
	case same:
		before.object = trimmed(n)
		before.estimate = before.estimate.with(&m.rules, n, at).adopt(&m.rules, m.records[n.Name], at)
	default:
		bare := *n
		bare.Spec.Taints = nil
		estimate := estimateOf(&m.rules, &bare, journal.Record{}, at).with(&m.rules, n, at)
		m.nodes[n.Name] = &node{trimmed(n), estimate}
	}
}

// older reports whether a node is an older version than the other one.
func older(n, than *v1.Node) bool {
	order, err := resourceversion.CompareResourceVersion(n.ResourceVersion, than.ResourceVersion)
	return err == nil && order < 0
}

// ReplaceNodes replaces all nodes by a list that was observed at this time.
func (m *Model) ReplaceNodes(list []*v1.Node, at time.Time) {
	names := map[string]bool{}
	for _, n := range list {
		names[n.Name] = true
		m.UpdateNode(n, at)
	}
	maps.DeleteFunc(m.nodes, func(name string, _ *node) bool { return !names[name] })
}

// RemoveNode removes a node.
func (m *Model) RemoveNode(n *v1.Node) { delete(m.nodes, n.Name) }

// UpdatePod adds or replaces a pod that was observed to appear or to change at this time.
func (m *Model) UpdatePod(p *v1.Pod, at time.Time) {
	updated := podOf(p)
	updated.Bound = at
	if before, ok := m.pods[updated.key()]; ok {
		updated.Bound = before.Bound
	}
	m.pods[updated.key()] = &updated
}

// ReplacePods replaces all pods by a list that was observed at this time.
func (m *Model) ReplacePods(list []*v1.Pod, at time.Time) {
	keys := map[types.UID]bool{}
	for _, p := range list {
		keys[p.UID] = true
		m.UpdatePod(p, at)
	}
	maps.DeleteFunc(m.pods, func(uid types.UID, _ *pod) bool { return !keys[uid] })
}

// RemovePod removes a pod.
func (m *Model) RemovePod(p *v1.Pod) { delete(m.pods, p.UID) }
