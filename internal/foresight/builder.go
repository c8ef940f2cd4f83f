package foresight

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// Builder collects the objects of a cluster as they were at one moment, in any order. [Builder.Load] returns the model
// that answers questions about them.
type Builder struct {
	model    *Model
	repeated []string // objects that were added twice, in states of different times

	// seen has a hash of the UID and resourceVersion of each pod in the focus, by a hash of its name.
	seen map[uint64]uint64
	seed maphash.Seed
}

// NewBuilder returns a builder of a model that judges by the rules.
func NewBuilder(by Ruleset, focus Focus) *Builder {
	return &Builder{seen: map[uint64]uint64{}, seed: maphash.MakeSeed(), model: &Model{
		rules: by, focus: focus, nodes: map[string]*node{}, namespaces: map[string]map[string]string{},
		pods: map[types.UID]*pod{}, budgets: map[string]budget{}, records: map[string]journal.Record{},
		replicas: map[ownerKey]int{}, missing: missing{namespaces: map[string]int{}}, shared: newSharing(),
	}}
}

// Add adds a node, a pod, a PodDisruptionBudget, an event of a pod, or a namespace, whose labels only policies with a
// namespaceSelector use. It ignores other objects.
func (b *Builder) Add(object any) {
	m := b.model
	switch o := object.(type) {
	case *v1.Node:
		b.addNode(o)
	case *v1.Pod:
		b.addPod(o)
	case *policyv1.PodDisruptionBudget:
		if m.focus.Namespace == "" || m.focus.Namespace == o.Namespace {
			m.budgets[o.Namespace+"/"+o.Name] = budgetOf(o)
		}
	case *v1.Event:
		m.events = append(m.events, *o)
	case *v1.Namespace:
		m.namespaces[o.Name] = o.Labels
	}
}

func (b *Builder) addNode(n *v1.Node) {
	m := b.model
	if before, ok := m.nodes[n.Name]; !ok {
		m.missing.node(n)
		m.nodes[n.Name] = &node{object: trimmed(n)}
	} else if before.object.UID != n.UID || differ(before.object.ResourceVersion, n.ResourceVersion) {
		b.repeated = append(b.repeated, "node "+n.Name)
	}
}

func (b *Builder) addPod(p *v1.Pod) {
	m := b.model
	if m.focus.selects(p) && b.repeats(p) {
		return
	}
	m.missing.pods++
	m.missing.namespaces[p.Namespace]++
	if !m.focus.selects(p) {
		return
	}
	m.missing.pod(p)
	added := podOf(p)
	switch n := m.nodes[added.Node]; {
	case n != nil && !m.matters(n):
		m.countReplica(&added)
	default:
		m.shared.pod(&added)
		m.pods[added.key()] = &added
	}
}

// repeats reports whether a pod of this name was added before. It notes a pod with another UID or resourceVersion.
func (b *Builder) repeats(p *v1.Pod) bool {
	name := maphash.Comparable(b.seed, [2]string{p.Namespace, p.Name})
	state := maphash.Comparable(b.seed, [2]string{string(p.UID), p.ResourceVersion})
	before, repeated := b.seen[name]
	if repeated && (before != state || p.ResourceVersion == "") {
		b.repeated = append(b.repeated, "pod "+p.Namespace+"/"+p.Name)
	}
	b.seen[name] = state
	return repeated
}

// differ reports whether objects with these resourceVersions may be of different times.
func differ(a, b string) bool { return a != b || a == "" }

// HasNodes reports whether a node was added.
func (b *Builder) HasNodes() bool { return len(b.model.nodes) > 0 }

// Tainted returns the names of the nodes whose taints may evict, among these nodes, or among all if none is named.
func (b *Builder) Tainted(among []string) []string { return b.model.tainted(among) }

// Pods returns the number of pods that were added in a namespace, or in all if it is empty, including those not
// kept.
func (b *Builder) Pods(namespace string) int {
	if namespace == "" {
		return b.model.missing.pods
	}
	return b.model.missing.namespaces[namespace]
}

// Budgets returns the number of PodDisruptionBudgets that were added.
func (b *Builder) Budgets() int { return len(b.model.budgets) }

// Namespaces returns the namespaces in which pods were added.
func (b *Builder) Namespaces() []string { return slices.Collect(maps.Keys(b.model.missing.namespaces)) }

// Find returns the namespaces that have a pod of this name or, if there are none, those with events about it.
func (b *Builder) Find(name string) []string { return b.model.find(name) }

// CheckNodes returns a [QuestionError] if a node of these names was not added.
func (b *Builder) CheckNodes(names []string) error { return b.model.checkNodes(names) }

// Load returns the model of the added objects, for questions about this time. It returns an error if an object was
// added twice, in states of different times. The builder must not be used again.
func (b *Builder) Load(r Reading, q Moment) (*Model, error) {
	m, at := b.model, r.settle(q)
	if r.Journal == nil {
		r.Journal = NewJournal("")
	}
	m.reading, m.at = r, at
	m.loadJournal(at)
	for key, p := range m.pods {
		p.Bound = p.boundBefore(at)
		if n := m.nodes[p.Node]; n != nil && !m.matters(n) {
			m.countReplica(p)
			delete(m.pods, key)
		}
	}
	if len(b.repeated) > 0 {
		return nil, fmt.Errorf("%s is there twice in %s; give what was written at one moment", slices.Min(b.repeated),
			r.From)
	}
	return m, nil
}
