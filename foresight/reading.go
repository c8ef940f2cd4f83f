package foresight

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/taint-manager/taint-manager/journal"
)

// Builder collects the objects of a cluster as they were at one moment, in any order. [Builder.Load] returns the model
// that answers questions about them.
type Builder struct{ model *Model }

// NewBuilder returns a builder of a model that judges by the rules.
func NewBuilder(by Ruleset, focus Focus) Builder { return Builder{newModel(by, focus)} }

// Add adds a node, a pod, a PodDisruptionBudget, an event of a pod, or a namespace, whose labels only policies with a
// namespaceSelector use. It ignores other objects.
func (b Builder) Add(object any) {
	m := b.model
	switch o := object.(type) {
	case *v1.Node:
		m.addNode(o)
	case *v1.Pod:
		m.addPod(o)
	case *policyv1.PodDisruptionBudget:
		m.addBudget(o)
	case *v1.Event:
		m.events = append(m.events, *o)
	case *v1.Namespace:
		m.namespaces[o.Name] = o.Labels
	}
}

// Nodes returns the sorted names of the nodes.
func (b Builder) Nodes() []string { return slices.Sorted(maps.Keys(b.model.nodes)) }

// Tainted returns the names of the nodes whose taints may evict, among these nodes, or among all if none is named.
func (b Builder) Tainted(among []string) []string { return b.model.tainted(among) }

// Pods returns the number of pods that were added in a namespace, or in all if it is empty, including those not
// kept.
func (b Builder) Pods(namespace string) int {
	if namespace == "" {
		return b.model.missing.pods
	}
	return b.model.missing.namespaces[namespace]
}

// Namespaces returns the namespaces in which pods were added.
func (b Builder) Namespaces() []string { return slices.Collect(maps.Keys(b.model.missing.namespaces)) }

// Find returns the namespaces that have a pod of this name or, if there are none, those with events about it.
func (b Builder) Find(name string) []string { return b.model.Find(name) }

// CheckNodes returns a [QuestionError] if a node of these names was not added.
func (b Builder) CheckNodes(names []string) error { return b.model.checkNodes(names) }

// Reading is what is known of how the objects were read.
type Reading struct {
	// At is when the objects were read. A question about a later time takes into account which breakers are reset until
	// then. Zero: at the time of the question.
	At time.Time

	// Aged is a note that At is long ago, for questions about At; empty if it is not.
	Aged string

	// From names the source in messages, such as "the cluster".
	From string

	// Dumped is set if an object that is missing may only be missing from a dump.
	Dumped bool

	// Hidden is the verb that this user may not use on nodes, get or list: then the nodes are those of the journal.
	// Empty if nodes were read.
	Hidden string

	// Partial is set if some nodes of the cluster were not read. Breakers compare affected nodes with all nodes, so
	// only trips that the journal records count then.
	Partial bool

	// NamespacesRefused says why namespaces were not read; empty if they were, or are not needed.
	NamespacesRefused string

	// Journal has the partitions of the tainted nodes and that of the guards. If the nodes are hidden, it has all.
	Journal *Journal

	// Notes concern what was not read.
	Notes []string
}

// Load returns the model of the added objects, for questions about this time; zero is the time of the reading. It
// returns an error if an object was added twice, in states of different times. The builder must not be used again.
func (b Builder) Load(r Reading, at time.Time) (*Model, error) {
	m := b.model
	if at.IsZero() {
		at = r.At
		if r.Aged != "" {
			r.Notes = append([]string{r.Aged}, r.Notes...)
		}
	}
	if r.Journal == nil {
		r.Journal = NewJournal("")
	}
	m.reading = r
	if r.Hidden != "" {
		m.replaceByRecords(r.Journal.all(), at)
	} else {
		for _, page := range r.Journal.all() {
			m.addRecords(page, at)
		}
	}
	m.guards = r.Journal.guards()
	m.begin(at)
	return m, m.twiceError()
}

// At returns the time for which the model was loaded.
func (m *Model) At() time.Time { return m.began }

func (m *Model) journal() *Journal { return m.reading.Journal }

// UpdateJournal takes in a version of a partition of the journal, or the error of reading it, at this time.
func (m *Model) UpdateJournal(number int, stored journal.StoredPartition, err error, at time.Time) {
	if !m.journal().update(number, stored, err) {
		return
	}
	if m.byRecords {
		m.replaceByRecords(m.journal().all(), at)
	} else {
		m.addRecords(m.journal().partitions[number].Partition, at)
	}
	m.guards = m.journal().guards()
}

// Hidden reports whether the nodes are those of the journal.
func (m *Model) Hidden() bool { return m.byRecords }
