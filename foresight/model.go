package foresight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/journal"
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
	began   time.Time // zero before begin

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
	twice    []string // objects that were added twice

	// byRecords is set while the nodes can't be listed, and their names come from the journal.
	byRecords bool
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

// node is a node with the estimate of its taints; estimated is false before begin.
type node struct {
	object    *v1.Node // its metadata and taints
	estimate  nodeEstimate
	estimated bool
}

// newModel returns an empty model, which judges by the rules.
func newModel(by Ruleset, focus Focus) *Model {
	return &Model{
		rules: by, focus: focus, reading: Reading{Journal: NewJournal("")}, namespaces: map[string]map[string]string{},
		nodes: map[string]*node{}, pods: map[types.UID]*pod{}, budgets: map[string]budget{},
		records: map[string]journal.Record{}, replicas: map[ownerKey]int{}, missing: newMissing(), shared: newSharing(),
	}
}

// addNode adds a node that existed at the first observation.
func (m *Model) addNode(n *v1.Node) {
	if before, ok := m.nodes[n.Name]; ok && m.began.IsZero() {
		if differ(before.object, n) {
			m.twice = append(m.twice, "node "+n.Name)
		}
		return
	}
	m.missing.node(n)
	m.nodes[n.Name] = &node{object: small(n)}
}

// differ reports whether two objects of one name may be of different times.
func differ(a, b metav1.Object) bool {
	return a.GetUID() != b.GetUID() || a.GetResourceVersion() != b.GetResourceVersion() || a.GetResourceVersion() == ""
}

// small returns the node without the fields that the package does not use.
func small(n *v1.Node) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name, UID: n.UID, CreationTimestamp: n.CreationTimestamp,
			Labels: n.Labels, ResourceVersion: n.ResourceVersion,
		},
		Spec: v1.NodeSpec{Taints: n.Spec.Taints},
	}
}

// partial reports whether some nodes of the cluster may not be in the model.
func (m *Model) partial() bool { return m.reading.Partial || m.byRecords }

// addPod adds a pod that existed at the first observation.
func (m *Model) addPod(p *v1.Pod) {
	m.missing.pods++
	m.missing.namespaces[p.Namespace]++
	if !m.counts(p) {
		return
	}
	m.missing.pod(p)
	kept := podOf(p)
	if before, ok := m.pods[kept.key()]; ok && m.began.IsZero() {
		if before.version != p.ResourceVersion || p.ResourceVersion == "" {
			m.twice = append(m.twice, "pod "+kept.Key())
		}
		return
	}
	if n := m.nodes[kept.Node]; n != nil && !m.matters(n) {
		m.pass(&kept)
		return
	}
	m.shared.pod(&kept)
	m.pods[kept.key()] = &kept
}

// counts reports whether the pod is in the focus.
func (m *Model) counts(p *v1.Pod) bool {
	in := m.focus.Namespace == "" || m.focus.Namespace == p.Namespace
	return in && (m.focus.Labels == nil || m.focus.Labels.Matches(labels.Set(p.Labels)))
}

// matters reports whether the pods of a node are kept.
func (m *Model) matters(n *node) bool {
	return m.focus.Nodes == nil || m.focus.Nodes.selects(n.object) || m.concerned(n)
}

// concerned reports whether pods may have to go because of a taint of the node.
func (m *Model) concerned(n *node) bool {
	return slices.ContainsFunc(n.object.Spec.Taints, func(t v1.Taint) bool { return m.rules.concerns(&t) })
}

// pass counts a pod for its owner without keeping it.
func (m *Model) pass(p *pod) {
	if p.owner != (Owner{}) && p.replica() {
		m.replicas[keyOf(p)]++
	}
}

// addBudget adds a PodDisruptionBudget.
func (m *Model) addBudget(b *policyv1.PodDisruptionBudget) {
	if m.focus.Namespace == "" || b.Namespace == m.focus.Namespace {
		m.budgets[b.Namespace+"/"+b.Name] = budgetOf(b)
	}
}

// addRecords adds the records of a partition of the journal, each with its writing, as they are at this time.
func (m *Model) addRecords(page journal.Partition, at time.Time) {
	for name, record := range page.Records {
		m.records[name] = record
		if n, ok := m.nodes[name]; ok && n.estimated && !m.byRecords {
			n.estimate = n.estimate.adopt(&m.rules, record, at)
		}
	}
}

// replaceByRecords sets the nodes to those that have records in the journal, as they are at this time, because the
// nodes can't be listed. pages are all partitions.
func (m *Model) replaceByRecords(pages []journal.Partition, at time.Time) {
	m.byRecords = true
	m.records, m.nodes = map[string]journal.Record{}, map[string]*node{}
	for _, page := range pages {
		maps.Copy(m.records, page.Records)
	}
	for name, record := range m.records {
		n := nodeOf(name, record)
		m.nodes[name] = &node{object: n, estimate: estimateOf(&m.rules, n, record, at), estimated: true}
	}
}

// begin sets the time at which all added objects were observed.
func (m *Model) begin(at time.Time) {
	for name, n := range m.nodes {
		if !n.estimated {
			n.estimate, n.estimated = estimateOf(&m.rules, n.object, m.records[name], at), true
		}
	}
	for key, p := range m.pods {
		if p.Bound.IsZero() {
			p.Bound = p.boundBefore(at)
		}
		if n := m.nodes[p.Node]; m.began.IsZero() && n != nil && !m.matters(n) {
			m.pass(p)
			delete(m.pods, key)
		}
	}
	m.began = at
}

// UpdateNode adds or replaces a node that was observed to appear or to change at this time.
func (m *Model) UpdateNode(n *v1.Node, at time.Time) {
	known, ok := m.nodes[n.Name]
	switch {
	case ok && known.object.UID == n.UID && older(n, known.object): // a list may come from a cache that lags behind
	case ok && known.estimated && known.object.UID == n.UID:
		known.object = small(n)
		known.estimate = known.estimate.with(&m.rules, n, at).adopt(&m.rules, m.records[n.Name], at)
	default:
		bare := *n
		bare.Spec.Taints = nil
		m.nodes[n.Name] = &node{object: small(n), estimate: estimateOf(&m.rules, &bare, journal.Record{},
			at).with(&m.rules, n, at), estimated: true}
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

// ReplacePods replaces all pods by a list that was observed at this time.
func (m *Model) ReplacePods(list []*v1.Pod, at time.Time) {
	keys := map[types.UID]bool{}
	for _, p := range list {
		keys[p.UID] = true
		m.UpdatePod(p, at)
	}
	maps.DeleteFunc(m.pods, func(uid types.UID, _ *pod) bool { return !keys[uid] })
}

// RemoveNode removes a node.
func (m *Model) RemoveNode(name string) { delete(m.nodes, name) }

// UpdatePod adds or replaces a pod that was observed to appear or to change at this time.
func (m *Model) UpdatePod(p *v1.Pod, at time.Time) {
	seen := podOf(p)
	seen.Bound = at
	if before, ok := m.pods[seen.key()]; ok {
		seen.Bound = before.Bound
	}
	m.pods[seen.key()] = &seen
}

// RemovePod removes a pod. A pod without a UID is identified by its namespace and name, with a slash between them.
func (m *Model) RemovePod(uid types.UID) { delete(m.pods, uid) }

// tainted returns the names of the nodes with NoExecute taints, or others that policies make triggers, among these
// nodes, or among all if none is named.
func (m *Model) tainted(among []string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.nodes)), func(name string) bool {
		return !m.concerned(m.nodes[name]) || len(among) > 0 && !slices.Contains(among, name)
	})
}

// stale returns when the oldest partition with records of these tainted nodes was written, if the journal seems to
// be no longer written; zero if there is no such partition. The partition of the guards counts if it has holds or
// trips.
func (m *Model) stale(nodes []string, at time.Time) time.Time {
	return m.guards.stale(stale(m.records, m.tainted(nodes), at), at)
}

// twiceError returns an error if an object was added twice, in states of different times.
func (m *Model) twiceError() error {
	if len(m.twice) == 0 {
		return nil
	}
	return fmt.Errorf("%s is there twice in %s; give what was written "+
		"at one moment", slices.Min(m.twice), m.reading.From)
}

// Words ends a sentence with the selected pods, on these nodes: " in namespace shop on n1 for pods with app=web".
func (f Focus) Words(nodes []string) string {
	var words string
	if f.Namespace != "" {
		words += " in namespace " + f.Namespace
	}
	if len(nodes) > 0 {
		words += " on " + Few(nodes)
	}
	if f.Labels != nil && !f.Labels.Empty() {
		words += " for pods with " + f.Labels.String()
	}
	return words
}

// inNames returns the budgets in the order of their names.
func inNames(budgets map[string]budget) []budget {
	var list []budget
	for _, b := range budgets {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b budget) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return list
}
