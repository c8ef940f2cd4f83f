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

	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// Reading describes how the objects were read.
type Reading struct {
	// At is when the objects were read. A question about a later time takes into account which breakers reset in
	// between. Zero stands for the time of the question.
	At time.Time

	// Newest is the newest time in a dump, apart from times in the future; zero if there is none. Aged is set if the
	// dump is so old that At is Newest.
	Newest time.Time
	Aged   bool

	From   string // the source, as messages name it: "the cluster"
	Dumped bool   // the objects are from a dump, which may lack others

	// NamespacesRefused, BudgetsUnknown and EventsUnknown say why namespaces, PodDisruptionBudgets and events were not
	// read; empty if they were, or are not needed.
	NamespacesRefused, BudgetsUnknown, EventsUnknown string

	Kubernetes     device.Version // of the cluster; 0 if it is unknown, or not needed
	DevicesUnknown string         // why devices, claims or rules were not read; empty if they were, or are not needed

	Journal *Journal // the part of the manager's journal that was read

	// AsRunning is set if the pods are judged by the configuration that the manager has published: that of the Journal,
	// or the default one if there is no manager.
	AsRunning bool

	Notes, Warnings []string // about objects that were not read, or that may be missing in a dump
	premature       bool     // the first warning says that the question is about a time before the dump's

	// Missing names what may be missing in a dump and may change an answer. PodsLeftOut names the pods that the dump's
	// tool does not write; empty if it writes all.
	Missing     []string
	PodsLeftOut string

	PodNamespaces map[string]bool // namespaces of which a dump lists the pods; "" stands for all
}

// MayLackPods returns why pods may be missing; "" if there is no reason.
func (r *Reading) MayLackPods() string {
	if r.PodsLeftOut != "" {
		return r.PodsLeftOut
	}
	return strings.Join(r.Missing, ", and ")
}

// Moment is the time of a question: At or, if At is zero, the time of the reading plus the duration After.
type Moment struct {
	At    time.Time
	After time.Duration
}

// settle returns the time of a question. It adds a note if a dump is old, and a warning if it is newer than q.
func (r *Reading) settle(q Moment) time.Time {
	newest := fmt.Sprintf("the newest time in %s is %s", r.From, taint.Stamp(r.Newest))
	if q.At.IsZero() && q.After < 0 { // as if the user had written the absolute time
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
	HasDevices bool // a device or a rule for devices was added, or a pod that uses claims
	shared     sharing

	seen  map[uint64]*added // by a hash of the kind and the name
	seed  maphash.Seed
	uids  map[uint64]*added // pods by a hash of their UIDs
	early map[string]bool   // nodes of which Add has counted pods instead of keeping them

	whole *Builder // of the whole cluster; nil if that was not read
}

// version is the state of an object.
type version struct {
	uid      uint64 // a hash
	revision uint64 // its resourceVersion; 0 if that is no number
	content  uint64 // a hash of the fields that decide or, without a revision, of all fields
	created  int64
	written  int64 // when the object says that it was written
	beta     bool  // read in an old version of the API
}

// is reports whether v and other are one state. It does not compare content if one was read in an old API version.
func (v *version) is(other *version) bool {
	return v.uid == other.uid && v.revision == other.revision && (v.content == other.content || v.beta != other.beta)
}

// compare returns a positive number if v is newer than the other state of the object, a negative one if it is older,
// and 0 if the order is unknown. With one UID, the state with the higher resourceVersion is newer; with two UIDs, the
// object that was created later; otherwise, the state that, by its own account, was written later.
func (v *version) compare(other *version) (order int) {
	switch {
	case v.uid != other.uid:
		order = cmp.Compare(v.created, other.created)
	case v.revision > 0 && other.revision > 0:
		order = cmp.Compare(v.revision, other.revision)
	}
	return cmp.Or(order, cmp.Compare(v.written, other.written))
}

// added is the newest known state of an object that was added.
type added struct {
	version
	lacks   lacking
	twin    *twin     // its other states; nil if there are none
	ready   bool      // of a pod
	counted *replicas // the replicas among which it was counted; nil if it was not
	kept    *pod      // nil if only counted
}

// twin has the name of an object, and its states except the newest one.
type twin struct {
	name   string
	others []version
}

// NewBuilder returns a builder of a model that judges by the rules.
func NewBuilder(by Ruleset, focus Focus) *Builder {
	return &Builder{
		seen: map[uint64]*added{}, uids: map[uint64]*added{}, seed: maphash.MakeSeed(),
		early: map[string]bool{}, shared: sharing{}, objects: objects{
			rules: by, focus: focus, nodes: map[string]*node{}, namespaces: map[string]map[string]string{},
			pods: map[types.UID]*pod{}, podsIn: map[string]int{}, replicas: map[ownerKey]*replicas{},
			budgets: map[string]BudgetPlan{}, events: map[string]*v1.Event{}, devices: map[string]any{},
		},
	}
}

// New returns an empty builder, with the same rules and focus, for a dump. masked reports whether a redactor has masked
// a value.
func (b *Builder) New(masked func(value string) bool) *Builder {
	made := NewBuilder(b.rules, b.focus)
	made.masked = masked
	return made
}

// Judge replaces the rules. It must be called before Load.
func (b *Builder) Judge(by Ruleset) { b.rules = by }

// Add adds a node, a pod, a PodDisruptionBudget, an event of a pod, an object of package device, or a namespace, whose
// labels only policies with a namespaceSelector use. It ignores other objects.
func (b *Builder) Add(object any) {
	switch o := object.(type) {
	case *v1.Node:
		if s := b.newState("node", o, time.Time{}); s != nil {
			s.lacks.count(o)
			b.nodes[o.Name] = nodeOf(o)
		}
		b.AddElsewhere(o)
	case *v1.Pod:
		if s := b.newState("pod", o, time.Time{}); s != nil {
			b.addPod(o, s)
		}
		b.AddElsewhere(o)
	case *policyv1.PodDisruptionBudget:
		if (b.focus.Namespace == "" || b.focus.Namespace == o.Namespace) &&
			b.newState("PodDisruptionBudget", o, time.Time{}) != nil {
			budget := budgetOf(o)
			budget.masked = o.Spec.Selector != nil && b.isMasked(fmt.Sprint(*o.Spec.Selector))
			b.budgets[o.Namespace+"/"+o.Name] = budget
		}
	case *v1.Event: // it may be there in two API versions
		if b.newState("event", o, time.Time{}) != nil {
			b.events[o.Namespace+"/"+o.Name] = o
		}
	case *v1.Namespace:
		if b.newState("namespace", o, time.Time{}) != nil {
			b.namespaces[o.Name] = o.Labels
		}
	case metav1.Object:
		if part := device.Of(o); part != nil && b.newState(fmt.Sprintf("%T", o), o, time.Time{}) != nil {
			b.HasDevices = true
			b.devices[fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName())] = part
		}
	}
}

// WholeCluster returns an empty builder for the nodes and pods of the whole cluster. An answer about one pod depends on
// them only because they slow down its eviction.
func (b *Builder) WholeCluster() *Builder {
	made := NewBuilder(b.rules, Focus{Nodes: &Selection{}})
	made.masked = b.masked
	return made
}

// SetWholeCluster sets the builder of the whole cluster, which then also gets what is added. It must be called before
// Load.
func (b *Builder) SetWholeCluster(all *Builder) { b.whole = all }

// AddElsewhere adds a node or a pod only to the builder of the whole cluster, if there is one.
func (b *Builder) AddElsewhere(object any) {
	if b.whole != nil {
		b.whole.Add(object)
	}
}

func (b *Builder) addPod(p *v1.Pod, s *added) {
	b.podsIn[p.Namespace]++
	in, hidden := b.inFocus(p)
	if !in && !hidden {
		return
	}
	if isStatic(p) {
		p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: ""}
		s.lacks.add(true, "pod", "a Node as controller, or config.source=file or =http, but no annotation "+
			v1.MirrorPodAnnotationKey+": treated as static")
	}
	s.lacks.count(p)
	made := podOf(p)
	made.hidden, b.HasDevices = hidden, b.HasDevices || made.usesClaims
	if other, ok := b.uids[s.uid]; p.UID != "" && ok && other != s && other.uid == s.uid {
		s.lacks.add(true, "pod", "a metadata.uid that another pod has, so pods are identified by namespace and name")
		made.UID = ""
	} else if p.UID != "" {
		b.uids[s.uid] = s
	}
	n := b.nodes[made.Node]
	s.counted, s.ready = made.countIn(b.replicas), made.Ready
	if n != nil && len(n.Taints) == 0 && !b.keeps(made.Node) && !made.usesClaims { // whatever the rules are
		b.early[made.Node] = true
	} else {
		made.share(b.shared)
		s.kept = made
		b.pods[made.key()] = made
	}
}

// isStatic reports whether a pod mirrors a static pod but lacks the annotation that says so.
func isStatic(p *v1.Pod) bool {
	if _, mirror := p.Annotations[v1.MirrorPodAnnotationKey]; mirror {
		return false
	}
	controller := metav1.GetControllerOfNoCopy(p)
	source := p.Annotations["kubernetes.io/config.source"]
	return controller != nil && controller.Kind == "Node" && controller.APIVersion == "v1" || source == "file" ||
		source == "http"
}

// versionOf returns the state of an object.
func (b *Builder) versionOf(o metav1.Object, written time.Time) version {
	v := version{
		uid:     maphash.Comparable(b.seed, o.GetUID()),
		created: o.GetCreationTimestamp().Unix(), written: written.UnixMicro(),
	}
	var content any = o
	if revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64); err == nil {
		v.revision, content = revision, deciding(o)
	}
	if b, isBudget := o.(*policyv1.PodDisruptionBudget); isBudget {
		v.beta = strings.HasSuffix(b.APIVersion, "beta1")
	}
	text, _ := json.Marshal(content) // it was read from JSON
	v.content = maphash.Bytes(b.seed, text)
	return v
}

// deciding returns the fields of an object that affect decisions. If two copies with one resourceVersion differ in
// these fields, the API server did not write both.
func deciding(o metav1.Object) any {
	type decisive struct { // encoded for each object: JSON of v1.Node or v1.Pod would also have empty fields
		Labels      map[string]string `json:",omitempty"`
		Taints      []v1.Taint        `json:",omitempty"`
		Tolerations []v1.Toleration   `json:",omitempty"`
		Node        string            `json:",omitempty"`
		Phase       v1.PodPhase       `json:",omitempty"`
		Deleted     *metav1.Time      `json:",omitempty"`

		Selector *metav1.LabelSelector `json:",omitempty"`
		Admits   int32                 `json:",omitempty"`
	}
	switch o := o.(type) {
	case *v1.Node:
		return decisive{Labels: o.Labels, Taints: o.Spec.Taints}
	case *v1.Pod:
		return decisive{
			Labels: o.Labels, Tolerations: o.Spec.Tolerations, Node: o.Spec.NodeName, Phase: o.Status.Phase,
			Deleted: o.DeletionTimestamp,
		}
	case *policyv1.PodDisruptionBudget:
		return decisive{Selector: o.Spec.Selector, Admits: o.Status.DisruptionsAllowed}
	case *v1.ConfigMap:
		return o.Data
	}
	return nil
}

// IsNew reports whether an object is to be added: it is new, or it replaces an older state.
func (b *Builder) IsNew(kind string, o metav1.Object, written time.Time) bool {
	return b.newState(kind, o, written) != nil
}

// newState returns the state of an object to add; nil if the same state, a newer one, or one of unknown order was added
// before. It also remembers the states that it does not return, so that the order of additions does not matter.
func (b *Builder) newState(kind string, o metav1.Object, written time.Time) *added {
	hash := maphash.Comparable(b.seed, [3]string{kind, o.GetNamespace(), o.GetName()})
	now, s := b.versionOf(o, written), b.seen[hash]
	if s == nil {
		s = &added{version: now}
		b.seen[hash] = s
		return s
	}
	switch same := s.is(&now); {
	case same && s.beta && !now.beta:
		s.version = now
		return s
	case same:
		return nil
	case s.twin == nil:
		s.twin = &twin{name: kind + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")}
	}
	if now.compare(&s.version) <= 0 {
		s.twin.others = append(s.twin.others, now)
		return nil
	}
	b.remove(s)
	if kind == "pod" {
		b.podsIn[o.GetNamespace()]--
	}
	s.twin.others = append(s.twin.others, s.version)
	*s = added{version: now, twin: s.twin}
	return s
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
	repeated, superseded := b.repeated()
	if len(repeated) > 0 {
		err := fmt.Errorf("%s appears more than once in %s, in states of unknown order", slices.Min(repeated), r.From)
		return nil, hint.Add(err, "Use files that were written at the same time.")
	}
	if r.Journal == nil {
		r.Journal = NewJournal("", "", "")
	}
	if superseded > 0 {
		r.Notes = append(r.Notes, Count(superseded, "object")+" of "+r.From+
			Verb(superseded, " was there in a newer state, which counts", " were there in newer states, which count"))
	}
	m := &Model{objects: b.objects, users: b.cluster(), lacks: map[lack]int{}}
	for _, s := range b.seen {
		for _, l := range s.lacks {
			m.lacks[l]++
		}
	}
	if b.whole != nil && b.rules.Limited() {
		b.whole.Judge(b.rules)
		m.whole, _ = b.whole.Load(r, q) // nil if the states of an object cannot be ordered
	}
	m.at = r.settle(q)
	m.reading = r
	for _, n := range m.nodes {
		n.estimate = estimateOf(&m.rules, n, r.Journal, m.at)
	}
	for key, p := range m.pods {
		p.Bound = boundBy(p.Bound, m.at)
		if !m.keeps(p.Node) && !p.usesClaims {
			delete(m.pods, key)
		}
	}
	m.leaveOutMasked()
	m.doubtBudgets()
	return m, nil
}

// repeated returns the names of the objects that have no newest state, and of the nodes whose pods were only counted
// although a newer state of the node needs the pods; and how many objects have several states.
func (b *Builder) repeated() (names []string, several int) {
	for _, s := range b.seen {
		if s.twin == nil {
			continue
		}
		several++
		if slices.ContainsFunc(s.twin.others, func(v version) bool { return s.compare(&v) <= 0 && !s.is(&v) }) {
			names = append(names, s.twin.name)
		}
	}
	for node := range b.early {
		if b.keeps(node) {
			names = append(names, "node "+node)
		}
	}
	return names, several
}

// boundBy returns when a pod counts as bound: from the next second after its binding time in the API (bound). If that
// is missing or in the future, boundBy returns the present (at), which may itself be truncated to seconds.
func boundBy(bound, at time.Time) time.Time {
	if bound.IsZero() || bound.After(at) {
		return at
	}
	return skew.NextSecond(bound)
}
