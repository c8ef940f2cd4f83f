package foresight

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
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

	// Missing has what may be missing in a dump and may change an answer. PodsLeftOut says which pods its tool does not
	// write; empty if it writes all.
	Missing     []string
	PodsLeftOut string

	Masked func(value string) bool // reports whether a redactor has masked a value; nil if none could

	PodNamespaces map[string]bool // those of whose pods a dump has a list; "" is any
}

// MayLackPods returns why pods may be missing; "" if there is no reason.
func (r *Reading) MayLackPods() string {
	if r.PodsLeftOut != "" {
		return r.PodsLeftOut
	}
	return strings.Join(r.Missing, ", and ")
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
		r.Notes = append([]string{newest + ", so --at defaults to it; --at=now uses the current time"}, r.Notes...)
	case r.Aged:
		r.Notes = append([]string{newest + ", and --at is relative to it"}, r.Notes...)
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
	repeated []string // objects that were added twice, in states that can't be ordered

	seen       map[uint64]added // by a hash of the kind and the name
	seed       maphash.Seed
	uids       map[uint64]uint64 // the names of pods by their UIDs, all as hashes
	superseded int
}

// version is the state of an object.
type version struct {
	uid      uint64 // a hash
	revision uint64 // its resourceVersion as a number, or a hash of its content
	numbered bool   // the revision is the resourceVersion
	created  int64
	written  int64 // when the object says that it was written
}

// compare returns a positive number if v is newer than the other state of the object, a negative one if it is older,
// and 0 if that is not known. Of one UID the higher resourceVersion is newer, of two UIDs the object that was created
// later, and otherwise the one that says that it was written later.
func (v *version) compare(other *version) (order int) {
	switch {
	case v.uid != other.uid:
		order = cmp.Compare(v.created, other.created)
	case v.numbered && other.numbered:
		order = cmp.Compare(v.revision, other.revision)
	}
	return cmp.Or(order, cmp.Compare(v.written, other.written))
}

// added is an object that was added.
type added struct {
	version
	ready   bool      // of a pod that is only counted
	counted *replicas // as one of which it is; otherwise nil
	kept    *pod      // nil if it is not kept
}

// NewBuilder returns a builder of a model that judges by the rules.
func NewBuilder(by Ruleset, focus Focus) *Builder {
	return &Builder{
		seen: map[uint64]added{}, uids: map[uint64]uint64{}, seed: maphash.MakeSeed(), shared: sharing{}, objects: objects{
			rules: by, focus: focus, nodes: map[string]*node{}, namespaces: map[string]map[string]string{},
			pods: map[types.UID]*pod{}, podsIn: map[string]int{}, replicas: map[ownerKey]*replicas{},
			budgets: map[string]BudgetPlan{}, events: map[string]*v1.Event{}, lacking: lacking{counts: map[lack]int{}},
		},
	}
}

// New returns an empty builder of a model by the same rules.
func (b *Builder) New() *Builder { return NewBuilder(b.rules, b.focus) }

// Judge sets other rules, before Load.
func (b *Builder) Judge(by Ruleset) { b.rules = by }

// Add adds a node, a pod, a PodDisruptionBudget, an event of a pod, or a namespace, whose labels only policies with a
// namespaceSelector use. It ignores other objects.
func (b *Builder) Add(object any) {
	switch o := object.(type) {
	case *v1.Node:
		if b.isNew("node", o) {
			b.lacking.count(o)
			b.nodes[o.Name] = nodeOf(o)
		}
	case *v1.Pod:
		if b.isNew("pod", o) {
			b.addPod(o)
		}
	case *policyv1.PodDisruptionBudget:
		if (b.focus.Namespace == "" || b.focus.Namespace == o.Namespace) && b.isNew("PodDisruptionBudget", o) {
			b.budgets[o.Namespace+"/"+o.Name] = budgetOf(o)
		}
	case *v1.Event: // it may be there in two API versions
		if b.isNew("event", o) {
			b.events[o.Namespace+"/"+o.Name] = o
		}
	case *v1.Namespace:
		if b.isNew("namespace", o) {
			b.namespaces[o.Name] = o.Labels
		}
	}
}

func (b *Builder) addPod(p *v1.Pod) {
	b.podsIn[p.Namespace]++
	if !b.focus.selects(p) {
		return
	}
	if isStatic(p) {
		p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: ""}
		b.lacking.add(true, "pod", "a Node as controller, or the config.source file or http, but no annotation "+
			v1.MirrorPodAnnotationKey+": treated as static")
	}
	b.lacking.count(p)
	made := podOf(p)
	name := b.nameOf("pod", p)
	seen := b.seen[name]
	if other, ok := b.uids[seen.uid]; p.UID != "" && ok && other != name {
		b.lacking.add(true, "pod", "a metadata.uid that another pod has, so pods are identified by namespace and name")
		made.UID = ""
	} else if p.UID != "" {
		b.uids[seen.uid] = name
	}
	if n := b.nodes[made.Node]; n != nil && len(n.Taints) == 0 && !b.keeps(made) { // by whatever rules
		seen.counted, seen.ready = made.countIn(b.replicas), made.ready
	} else {
		made.share(b.shared)
		seen.kept = made
		b.pods[made.key()] = made
	}
	b.seen[name] = seen
}

// isStatic reports whether a pod mirrors a static one, though it lacks the annotation that says so.
func isStatic(p *v1.Pod) bool {
	if _, mirror := p.Annotations[v1.MirrorPodAnnotationKey]; mirror {
		return false
	}
	controller := metav1.GetControllerOfNoCopy(p)
	source := p.Annotations["kubernetes.io/config.source"]
	return controller != nil && controller.Kind == "Node" && controller.APIVersion == "v1" || source == "file" ||
		source == "http"
}

// nameOf returns a hash of the kind and the name of an object.
func (b *Builder) nameOf(kind string, o metav1.Object) uint64 {
	return maphash.Comparable(b.seed, [3]string{kind, o.GetNamespace(), o.GetName()})
}

// versionOf returns the state of an object.
func (b *Builder) versionOf(o metav1.Object) (v version) {
	v.uid, v.created = maphash.Comparable(b.seed, o.GetUID()), o.GetCreationTimestamp().Unix()
	if revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64); err == nil && revision > 0 {
		v.revision, v.numbered = revision, true
	} else {
		text, _ := json.Marshal(o) // it was read from JSON
		v.revision = maphash.Bytes(b.seed, text)
	}
	return v
}

func (b *Builder) isNew(kind string, o metav1.Object) bool { return b.IsNew(kind, o, time.Time{}) }

// IsNew reports whether an object is to be added: it was not added before, or in an older state, which it removes. If
// it can't be said which state is newer, the object is repeated.
func (b *Builder) IsNew(kind string, o metav1.Object, written time.Time) bool {
	name, now := b.nameOf(kind, o), b.versionOf(o)
	now.written = written.UnixMicro()
	before, found := b.seen[name]
	same := before.version
	same.created, same.written = now.created, now.written
	switch order := now.compare(&before.version); {
	case !found:
	case same == now:
		return false
	case order == 0:
		b.repeated = append(b.repeated, kind+" "+strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
		return false
	case order < 0:
		b.superseded++
		return false
	default:
		b.superseded++
		b.remove(&before)
		if kind == "pod" {
			b.podsIn[o.GetNamespace()]--
		}
	}
	b.seen[name] = added{version: now}
	return true
}

// remove removes the older state of a pod; other objects are replaced by their names.
func (b *Builder) remove(older *added) {
	if older.kept != nil {
		delete(b.pods, older.kept.key())
	}
	if older.counted != nil {
		older.counted.all--
		if older.ready {
			older.counted.ready--
		}
	}
}

// Load returns the model of the added objects, for questions about this time. It returns an error if an object was
// added twice, in states that cannot be ordered. The builder must not be used again.
func (b *Builder) Load(r Reading, q Moment) (*Model, error) {
	if len(b.repeated) > 0 {
		return nil, fmt.Errorf("%s is there twice in %s; give what was written at one moment", slices.Min(b.repeated),
			r.From)
	}
	if r.Journal == nil {
		r.Journal = NewJournal("", "", "")
	}
	if b.superseded > 0 {
		r.Notes = append(r.Notes, Count(b.superseded, "object")+" of "+r.From+" was there in a newer state, which counts")
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
	m.leaveOutMasked()
	m.doubtBudgets()
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
