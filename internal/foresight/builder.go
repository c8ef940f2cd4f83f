package foresight

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// Reading is what is known of how the objects were read.
type Reading struct {
	// At is when the objects were read. A question about a later time takes into account which breakers are reset until
	// then. Zero: at the time of the question.
	At time.Time

	// Newest is the newest time in a dump that is not in the future; zero if there is none. Aged is set if At is that
	// time, because it is long ago.
	Newest time.Time
	Aged   bool

	From   string // names the source in messages, such as "the cluster"
	Dumped bool   // an object that is missing may only be missing from a dump

	// NamespacesRefused, BudgetsUnknown and EventsUnknown say why namespaces, PodDisruptionBudgets and events were not
	// read; empty if they were, or are not needed.
	NamespacesRefused, BudgetsUnknown, EventsUnknown string

	Journal *Journal // what was read of the manager's

	// AsRunning is set if the pods are judged by the configuration that the manager has published: that of the Journal,
	// or the default one if there is no manager.
	AsRunning bool

	Notes, Warnings []string // about what was not read, and about what may be missing in a dump
	premature       bool     // the first warning says that the question is about a time before the dump's
}

// Moment is the time of a question: At or, if At is zero, the time that is After the time of the reading.
type Moment struct {
	At    time.Time
	After time.Duration
}

// settle returns the time of a question, notes that a dump is old, and warns about a question before the dump's time.
func (r *Reading) settle(q Moment) time.Time {
	newest := fmt.Sprintf("the newest time in %s is %s", r.From, taint.Stamp(r.Newest))
	if q.At.IsZero() && q.After < 0 { // as if the time were written out
		q.At = r.At.Add(q.After)
	}
	switch {
	case !q.At.IsZero() && q.At.Before(r.Newest):
		r.Warnings, r.premature = append([]string{newest + ", which is after " + taint.Stamp(q.At) + "; changes in " +
			"between count as if they had already happened"}, r.Warnings...), true
	case !q.At.IsZero():
	case r.Aged && q.After == 0:
		r.Notes = append([]string{newest + ", so times count from then; --at=now uses the current time"}, r.Notes...)
	case r.Aged:
		r.Notes = append([]string{newest + ", and --at counts from then"}, r.Notes...)
	}
	if q.At.IsZero() {
		return r.At.Add(q.After)
	}
	return q.At
}

// Builder collects the objects of a cluster as they were at one moment, in any order. [Builder.Load] returns the model
// that answers questions about them.
type Builder struct {
	objects
	shared   sharing
	repeated []string // objects that were added twice, in states of different times

	// seen has a hash of the UID and resourceVersion of each node and pod, by a hash of its kind and name.
	seen map[uint64]uint64
	seed maphash.Seed
}

// NewBuilder returns a builder of a model that judges by the rules.
func NewBuilder(by Ruleset, focus Focus) *Builder {
	return &Builder{
		seen: map[uint64]uint64{}, seed: maphash.MakeSeed(), shared: sharing{}, objects: objects{
			rules: by, focus: focus, nodes: map[string]*node{}, namespaces: map[string]map[string]string{},
			pods: map[types.UID]*pod{}, podsIn: map[string]int{}, replicas: map[ownerKey]replicas{},
			budgets: map[string]BudgetPlan{}, lacking: lacking{counts: map[lack]int{}},
		},
	}
}

// Judge sets other rules, before Load.
func (b *Builder) Judge(by Ruleset) { b.rules = by }

// Add adds a node, a pod, a PodDisruptionBudget, an event of a pod, or a namespace, whose labels only policies with a
// namespaceSelector use. It ignores other objects.
func (b *Builder) Add(object any) {
	switch o := object.(type) {
	case *v1.Node:
		if !b.repeats("node", o) {
			b.lacking.count(o)
			b.nodes[o.Name] = nodeOf(o)
		}
	case *v1.Pod:
		if !b.repeats("pod", o) {
			b.addPod(o)
		}
	case *policyv1.PodDisruptionBudget:
		if b.focus.Namespace == "" || b.focus.Namespace == o.Namespace {
			b.budgets[o.Namespace+"/"+o.Name] = budgetOf(o)
		}
	case *v1.Event:
		b.events = append(b.events, *o)
	case *v1.Namespace:
		b.namespaces[o.Name] = o.Labels
	}
}

func (b *Builder) addPod(p *v1.Pod) {
	b.podsIn[p.Namespace]++
	if !b.focus.selects(p) {
		return
	}
	b.lacking.count(p)
	added := podOf(p)
	if n := b.nodes[added.Node]; n != nil && len(n.Taints) == 0 && !b.keeps(added) { // by whatever rules
		added.countIn(b.replicas)
		return
	}
	added.share(b.shared)
	b.pods[added.key()] = added
}

// repeats reports whether an object of this kind and name was added before, and keeps the name if its state differs.
func (b *Builder) repeats(kind string, o metav1.Object) bool {
	name := maphash.Comparable(b.seed, [3]string{kind, o.GetNamespace(), o.GetName()})
	state := maphash.Comparable(b.seed, [2]string{string(o.GetUID()), o.GetResourceVersion()})
	before, repeated := b.seen[name]
	if repeated && (before != state || o.GetResourceVersion() == "") {
		b.repeated = append(b.repeated, kind+" "+strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
	}
	b.seen[name] = state
	return repeated
}

// Load returns the model of the added objects, for questions about this time. It returns an error if an object was
// added twice, in states of different times. The builder must not be used again.
func (b *Builder) Load(r Reading, q Moment) (*Model, error) {
	if len(b.repeated) > 0 {
		return nil, fmt.Errorf("%s is there twice in %s; give what was written at one moment", slices.Min(b.repeated),
			r.From)
	}
	if r.Journal == nil {
		r.Journal = NewJournal("", "", "")
	}
	at := r.settle(q)
	m := &Model{objects: b.objects, reading: r, at: at}
	for _, n := range m.nodes {
		n.estimate = estimateOf(&m.rules, n, r.Journal, at)
	}
	for key, p := range m.pods {
		p.Bound = boundBy(p.Bound, at)
		if !m.keeps(p) {
			p.countIn(m.replicas)
			delete(m.pods, key)
		}
	}
	return m, nil
}

// boundBy returns the moment from which a pod counts as bound that the API says was bound then, as of this time, which
// may be cut off to the second, too: the next second, or this time if the API has no time or a later one.
func boundBy(bound, at time.Time) time.Time {
	if bound.IsZero() || bound.After(at) {
		return at
	}
	return skew.NextSecond(bound)
}
