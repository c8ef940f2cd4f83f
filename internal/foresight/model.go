package foresight

import (
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// Focus selects the pods that a model keeps; the zero value keeps all.
type Focus struct {
	Namespace string          // of the pods; empty for all
	Labels    labels.Selector // of the pods; nil for all

	// Nodes are the nodes in question. The model keeps their pods, pods on other nodes whose taints may evict, and pods
	// with resource claims. It only counts all others, by owner. If Nodes is nil, it keeps the pods of all nodes.
	Nodes *Selection
}

// Words ends a sentence by naming the selected pods on these nodes: " in namespace shop on n1 for pods with app=web".
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

// among reports whether the node of this name is one of nodes. An empty list stands for all nodes.
func among(nodes []string, name string) bool { return len(nodes) == 0 || slices.Contains(nodes, name) }

// QuestionError reports that a question does not fit the cluster.
type QuestionError struct {
	What    string
	Kubectl string   // the command of kubectl that shows the nodes and their taints or labels
	Typed   string   // a name that does not exist
	Names   []string // names that do exist
}

func (q *QuestionError) Error() string { return q.What }

// objects are the objects of a cluster that a question needs.
type objects struct {
	rules      Ruleset
	focus      Focus
	nodes      map[string]*node
	namespaces map[string]map[string]string // their labels
	pods       map[types.UID]*pod
	podsIn     map[string]int // number of pods by namespace, whatever the focus
	replicas   map[ownerKey]*replicas
	budgets    map[string]BudgetPlan
	events     map[string]*v1.Event    // of pods, by namespace and name
	devices    map[string]any          // as device.Of returns them, by kind, namespace and name
	masked     func(value string) bool // reports whether a redactor has masked a value; nil without a dump
}

// node is a node with the estimate of its taints.
type node struct {
	breaker.Node
	created  time.Time
	version  string    // resourceVersion
	written  time.Time // when the list of taints was written, according to managedFields; zero if they don't say
	writer   string    // by which field manager
	notReady time.Time // when the condition Ready stopped being True; zero if it is True, or if that is unknown
	estimate nodeEstimate
}

func nodeOf(n *v1.Node) *node {
	fields := breaker.Node{Name: n.Name, UID: n.UID, Labels: n.Labels, Taints: n.Spec.Taints}
	made := &node{
		Node: fields, created: n.CreationTimestamp.Time, version: n.ResourceVersion, notReady: cluster.NotReadySince(n),
	}
	if written := journal.TaintsWritten(n.ManagedFields); written != nil {
		made.written, made.writer = written.Time.Time, written.Manager
	}
	return made
}

// withTaints returns the node with other taints, as if a change had just been observed.
func (n *node) withTaints(taints []v1.Taint) *node {
	changed := *n
	changed.Taints, changed.version = taints, ""
	return &changed
}

// keeps reports whether the pods of a node are kept: it is in question, has taints that may evict, or is not known yet.
func (o *objects) keeps(node string) bool {
	n := o.nodes[node]
	hidden := func(t v1.Taint) bool { return o.masked != nil && o.rules.hiddenBehind(o.masked, &t) }
	if n == nil || o.focus.Nodes == nil || o.concerned(n) || slices.ContainsFunc(n.Taints, hidden) {
		return true
	}
	in, _ := o.inQuestion(o.focus.Nodes, n)
	return in
}

// concerned reports whether a taint of the node may evict pods.
func (o *objects) concerned(n *node) bool {
	return slices.ContainsFunc(n.Taints, func(t v1.Taint) bool { return o.rules.concerns(&t) })
}

// Tainted returns the names of the nodes whose taints may evict, among these nodes, or among all if none is named.
func (o *objects) Tainted(nodes []string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(o.nodes)), func(name string) bool {
		return !o.concerned(o.nodes[name]) || !among(nodes, name)
	})
}

// HasNodes reports whether a node was added.
func (o *objects) HasNodes() bool { return len(o.nodes) > 0 }

// CheckNodes returns a [QuestionError] if a node with one of these names was not added.
func (o *objects) CheckNodes(names []string) error {
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o.nodes[name] != nil })
	if len(missing) == 0 {
		return nil
	}
	if i := slices.Index(missing, ""); i >= 0 { // of a list such as "n1,"
		missing[i] = `""`
	}
	what := Verb(len(missing), "node ", "nodes ") + strings.Join(missing, ", ") + " not found"
	return &QuestionError{what, "get nodes", missing[0], slices.Sorted(maps.Keys(o.nodes))}
}

// Namespaces returns the namespaces in which pods were added.
func (o *objects) Namespaces() []string { return slices.Collect(maps.Keys(o.podsIn)) }

// Pods returns how many pods of a namespace were added, kept or not. An empty namespace stands for all.
func (o *objects) Pods(namespace string) (n int) {
	for name, pods := range o.podsIn {
		if namespace == "" || namespace == name {
			n += pods
		}
	}
	return n
}

// Find returns the namespaces that have a pod of this name or, if there are none, those with events about it.
func (o *objects) Find(name string) []string {
	var list []string
	for _, p := range o.pods {
		if p.Name == name {
			list = append(list, p.Namespace)
		}
	}
	if len(list) == 0 {
		for _, e := range o.events {
			if e.InvolvedObject.Name == name {
				list = append(list, e.InvolvedObject.Namespace)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Budgets returns the number of PodDisruptionBudgets that were added.
func (o *objects) Budgets() int { return len(o.budgets) }

// Model holds the known state of a cluster, and answers questions about it: [Model.Plan], [Model.Pending] and
// [Model.Explain].
//
// A [Builder] makes it. Later changes of objects are applied with the time at which they were observed, as in a
// manager. A Model must not be used by several goroutines at once.
type Model struct {
	objects
	reading Reading
	at      time.Time       // for which it was loaded
	lacks   map[lack]int    // of nodes and pods
	leftOut []*pod          // pods about which a masked value may decide
	whole   *Model          // the whole cluster, for the pace of evictions; nil if not needed, or if unknown
	users   *device.Cluster // of devices
}

// At returns the time for which the model was loaded.
func (m *Model) At() time.Time { return m.at }

// UpdateJournal replaces the journal by one that was read at this time.
func (m *Model) UpdateJournal(j *Journal, at time.Time) {
	j.keep(m.reading.Journal)
	m.reading.Journal = j
	for name, n := range m.nodes {
		if j.record(name).UID != "" {
			n.estimate = n.estimate.explained(&m.rules, j, at)
		}
	}
}

// Update adds or replaces a node or a pod that was observed to appear or to change at this time.
func (m *Model) Update(object any, at time.Time) {
	switch o := object.(type) {
	case *v1.Node:
		before, updated := m.nodes[o.Name], nodeOf(o)
		if before == nil || before.UID != o.UID {
			before = updated.withTaints(nil)
			before.estimate = estimateOf(&m.rules, before, m.reading.Journal, at)
		}
		updated.estimate = before.estimate.with(&m.rules, updated, at).explained(&m.rules, m.reading.Journal, at)
		m.nodes[o.Name] = updated
	case *v1.Pod:
		updated := podOf(o)
		updated.Bound = at
		if before, ok := m.pods[updated.key()]; ok {
			updated.Bound = before.Bound
		}
		m.pods[updated.key()] = updated
	}
}

// Remove removes a node or a pod.
func (m *Model) Remove(object any) {
	switch o := object.(type) {
	case *v1.Node:
		delete(m.nodes, o.Name)
	case *v1.Pod:
		delete(m.pods, o.UID)
	}
}

// Replace replaces all nodes or all pods, as what says, by a list that was observed at this time.
func (m *Model) Replace(what string, list []any, at time.Time) {
	listed := map[types.UID]bool{}
	for _, o := range list {
		m.Update(o, at)
		listed[o.(metav1.Object).GetUID()] = true
	}
	if what == "nodes" {
		maps.DeleteFunc(m.nodes, func(_ string, n *node) bool { return !listed[n.UID] })
	} else {
		maps.DeleteFunc(m.pods, func(_ types.UID, p *pod) bool { return !listed[p.UID] })
	}
}
