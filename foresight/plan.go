package foresight

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Plan predicts the effect of changes of taints.
type Plan struct {
	Header

	// EvictionMethod is delete or evict. With delete, budgets are not asked.
	EvictionMethod string `json:"evictionMethod"`

	// Compared is the name of the configuration that the changes are compared with; empty if they are compared with
	// no changes.
	Compared string `json:"compared,omitempty"`

	Nodes []PlannedNode `json:"nodes"`

	Total Total `json:"total"`

	// Pods to be evicted, in the order of their evictions, and then the pods of the nodes in question that stay.
	// Pods of other nodes that are evicted are included, as they ask the same budgets; their effect is anyway.
	Pods []*PlannedPod `json:"pods"`

	Namespaces []NamespaceTotal `json:"namespaces"`
	Owners     []OwnerTotal     `json:"owners"`

	// Budgets are those that cover pods to be evicted.
	Budgets []BudgetPlan `json:"budgets"`

	Remarks
}

// Names returns the namespaces and names of the pods that go, or go sooner, because of the change.
func (p *Plan) Names() []string {
	var names []string
	for _, one := range p.Pods {
		if one.Effect == Evicted || one.Effect == Sooner {
			names = append(names, one.String())
		}
	}
	return names
}

// Evictions returns the number of pods that go, or go sooner, because of the change, and that of all pods that go.
func (p *Plan) Evictions() (because, all int) {
	return p.Total.Evict, p.Total.going()
}

// PlannedNode is a node that gets the taints.
type PlannedNode struct {
	Name    string       `json:"name"`
	Changes []NodeChange `json:"changes"`

	// Total counts the pods of the node.
	Total `json:",inline"`
}

// PlannedPod is the prediction for one pod.
type PlannedPod struct {
	PodRef

	Prediction `json:",inline"`

	// Effect is the effect of the changes on the pod: evicted, sooner, later, anyway (it is evicted at that time
	// without the changes, too), saved or stays.
	Effect string `json:"effect"`

	// Original says how the original controller would decide otherwise, as far as the present state shows it; empty
	// if it would decide alike.
	Original string `json:"original,omitempty"`

	// InSeconds is the time from the plan's time to the eviction; 0 is at once.
	InSeconds *float64 `json:"inSeconds,omitempty"`

	// Without is the prediction for the pod without the changes; nil if the pod would stay.
	Without *Prediction `json:"without,omitempty"`

	// BlockedBy names the budgets that would block the eviction with the method evict.
	BlockedBy []string `json:"blockedBy,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// The effects of the changes on a pod.
const (
	Evicted = "evicted" // it is evicted because of them
	Sooner  = "sooner"  // it is evicted without them, too, but later
	Later   = "later"   // it is evicted without them, too, but sooner
	Anyway  = "anyway"  // it is evicted at the same time without them
	Saved   = "saved"   // it stays because of them
	Held    = "held"    // it is held: a policy or a breaker keeps it from being evicted
	Stays   = "stays"   // it stays without them, too
)

// Total counts pods.
type Total struct {
	// Evict is the number of pods that are evicted because of the changes, or sooner because of them.
	Evict int `json:"evict"`

	// Stay is the number of pods of the nodes in question that stay.
	Stay int `json:"stay"`

	// Saved is the number of those that stay and would be evicted without the changes.
	Saved int `json:"saved"`

	// Anyway is the number of pods of the nodes in question that are evicted without the changes, too, and no
	// later.
	Anyway int `json:"anyway"`

	// Elsewhere is the number of pods that are evicted from other nodes, whose taints do not change.
	Elsewhere int `json:"elsewhere"`

	// Held is the number of pods of the nodes in question that a policy or a breaker holds.
	Held int `json:"held,omitempty"`

	// Blocked is the number of pods of Evict that budgets would block with the method evict.
	Blocked int `json:"blocked"`
}

// NamespaceTotal counts the pods of one namespace.
type NamespaceTotal struct {
	Namespace string `json:"namespace"`
	Total     `json:",inline"`
}

// OwnerTotal counts the pods of one owner.
type OwnerTotal struct {
	Namespace string `json:"namespace"`
	Owner     `json:",inline"`
	Total     `json:",inline"`

	// Replicas are its pods on all nodes, except those that have finished or are being deleted.
	Replicas int `json:"replicas"`

	// LosesAll reports whether each of its replicas is evicted, some of them because of the changes.
	LosesAll bool `json:"losesAll"`
}

// Question is the question that a plan answers.
type Question struct {
	// Selection of the nodes that get the taints.
	Selection

	Changes []Change

	// At is the time at which the nodes get the taints.
	At time.Time

	// Compare, if not nil, is what the changes are compared with: this configuration instead of no changes. Compared is
	// its name.
	Compare  *Ruleset
	Compared string
}

// planned is a pod with its prediction.
type planned struct {
	*pod
	result *PlannedPod
	here   bool // on a node in question
}

// effect returns the effect of the changes on a pod, by the predictions with them and without.
func effect(with, without *Prediction) string {
	switch {
	case !with.Evict && with.HeldBy != "":
		return Held
	case !with.Evict && !without.Evict:
		return Stays
	case !with.Evict:
		return Saved
	case !without.Evict:
		return Evicted
	case with.At.Before(*without.At):
		return Sooner
	case with.At.After(*without.At):
		return Later
	}
	return Anyway
}

// going returns the number of pods that go, be it anyway.
func (t *Total) going() int { return t.Evict + t.Anyway + t.Elsewhere }

// add counts a pod.
func (t *Total) add(p *planned) {
	switch p.result.Effect {
	case Evicted, Sooner:
		t.Evict++
		if len(p.result.BlockedBy) > 0 {
			t.Blocked++
		}
	case Saved:
		t.Stay++
		t.Saved++
	case Stays:
		t.Stay++
	case Held:
		add(&t.Held, p.here)
	default:
		add(&t.Anyway, p.here)
		add(&t.Elsewhere, !p.here)
	}
}

// Plan predicts the effect of the changes. It returns an error if the nodes in question or their taints do not
// exist.
func (m *Model) Plan(q Question) (*Plan, error) {
	nodes, err := m.selected(&q.Selection)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Header: header("Plan", q.At), EvictionMethod: m.rules.method(), Compared: q.Compared}
	views := m.change(plan, nodes, q)
	if err := absent(plan.Nodes, q.Changes); err != nil {
		return nil, err
	}
	by := m.judges(views, q)
	pods := m.planPods(views, by, q)
	slices.SortFunc(pods, inOrder)
	plan.Budgets = orNone(ask(inNames(m.budgets), going(pods)))
	plan.count(pods, m.replicasOf())
	plan.Remarks = m.remarks(by.with, q.At, plan.doubts(), m.rules.notes(q.Changes, plan.Nodes))
	plan.Notes = append(plan.Notes, m.staleNote(nil, q.At)...)
	plan.Incomplete = m.gaps(q.Names)
	return plan, nil
}

// doubts returns what the times of the plan depend on.
func (p *Plan) doubts() (d doubts) {
	for _, one := range p.Pods {
		d.unsure = d.unsure || one.Earliest != nil || one.Without != nil && one.Without.Earliest != nil
		d.asIfNow = d.asIfNow || one.SinceFrom == FromPolicy
	}
	return d
}

// selected returns the nodes in question, by their names.
func (m *Model) selected(s *Selection) (map[string]*node, error) {
	if err := m.checkNodes(s.Names); err != nil {
		return nil, err
	}
	found := map[string]*node{}
	for name, n := range m.nodes {
		if s.selects(n.object) {
			found[name] = n
		}
	}
	if len(found) == 0 {
		return nil, &QuestionError{What: "no node matches " + s.Selector.String(), Look: "get nodes --show-labels"}
	}
	return found, nil
}

// replicasOf returns the number of pods of each owner.
func (m *Model) replicasOf() map[ownerKey]int {
	all := maps.Clone(m.replicas)
	for _, p := range m.pods {
		if p.owner != (Owner{}) && p.replica() {
			all[keyOf(p)]++
		}
	}
	return all
}

// ownerKey identifies an owner.
type ownerKey struct {
	namespace string
	owner     Owner
}

func keyOf(p *pod) ownerKey { return ownerKey{p.Namespace, p.owner} }

// view is a node before and after the changes.
type view struct {
	before, after nodeEstimate
	taints        []v1.Taint // after
}

// change applies the changes to the nodes.
func (m *Model) change(plan *Plan, nodes map[string]*node, q Question) map[string]view {
	views := map[string]view{}
	for name, n := range nodes {
		taints, done := apply(q.Changes, n.object.Spec.Taints)
		changed := small(n.object)
		changed.Spec.Taints, changed.ResourceVersion = taints, ""
		views[name] = view{n.estimate, n.estimate.with(&m.rules, changed, q.At), taints}
		if q.Compare != nil {
			views[name] = view{m.estimateBy(q.Compare, n).with(q.Compare, changed, q.At), views[name].after, taints}
		}
		plan.Nodes = append(plan.Nodes, PlannedNode{Name: name, Changes: done})
	}
	slices.SortFunc(plan.Nodes, func(a, b PlannedNode) int { return cmp.Compare(a.Name, b.Name) })
	return views
}

// estimateBy returns the estimate of a node by another basis.
func (m *Model) estimateBy(by *Ruleset, n *node) nodeEstimate {
	return estimateOf(by, n.object, m.records[n.object.Name], m.began)
}

// judges judge with the changes, and without them.
type judges struct{ with, without judge }

// judges returns the judges of a plan. A breaker trips by the taints that the nodes would have.
func (m *Model) judges(views map[string]view, q Question) judges {
	taints := map[string][]v1.Taint{}
	for name := range views {
		taints[name] = views[name].taints
	}
	if q.Compare == nil {
		return judges{m.judge(&m.rules, q.At, taints), m.now(q.At)}
	}
	return judges{m.judge(&m.rules, q.At, taints), m.judge(q.Compare, q.At, taints)}
}

// planPods returns the predictions for the pods of the nodes in question, and for pods that are evicted from other
// nodes.
func (m *Model) planPods(views map[string]view, by judges, q Question) []*planned {
	var pods []*planned
	others := m.unchanged(views, q)
	for _, p := range m.pods {
		if v, here := views[p.Node]; here {
			pods = append(pods, m.planPod(p, &v, by, q.At))
		} else if same, tainted := others[p.Node]; tainted {
			if one := m.planPod(p, &same, by, q.At); one.result.Evict {
				one.here, one.result.Warnings = false, nil
				pods = append(pods, one)
			}
		}
	}
	return pods
}

// unchanged returns the views of the other nodes with taints because of which pods may have to go.
func (m *Model) unchanged(views map[string]view, q Question) map[string]view {
	others := map[string]view{}
	for name, n := range m.nodes {
		if _, here := views[name]; here || !m.concerned(n) {
			continue
		}
		same := view{n.estimate, n.estimate, n.object.Spec.Taints}
		if q.Compare != nil {
			same.before = m.estimateBy(q.Compare, n)
		}
		others[name] = same
	}
	return others
}

func (m *Model) planPod(p *pod, v *view, by judges, at time.Time) *planned {
	with, verdict := v.after.judge(&p.Pod, by.with)
	without, _ := v.before.judge(&p.Pod, by.without)
	result := &PlannedPod{
		PodRef: p.ref(), Prediction: with, Effect: effect(&with, &without), Original: v.after.original(&p.Pod, &verdict, by.with.rules),
	}
	if without.Evict {
		kept := without
		m.shared.prediction(&kept)
		result.Without = &kept
	}
	m.shared.prediction(&result.Prediction)
	if result.SinceFrom == FromSight {
		result.SinceFrom = FromPlan
	}
	if result.Evict {
		result.Warnings = append(shadowed(&p.Pod, v.taints, m.rules.tolerations()), m.backAgain(&p.Pod, v, &verdict)...)
		seconds := max(0, result.At.Sub(at).Seconds())
		result.InSeconds = &seconds
	}
	return &planned{p, result, true}
}

// inOrder sorts the pods to be evicted first, by their deadlines, and then by their names.
func inOrder(a, b *planned) int {
	switch {
	case a.result.Evict && !b.result.Evict:
		return -1
	case b.result.Evict && !a.result.Evict:
		return 1
	case a.result.Evict && !a.result.At.Equal(*b.result.At):
		return a.result.At.Compare(*b.result.At)
	}
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// going returns the pods to be evicted, which come first.
func going(pods []*planned) []*planned {
	n := slices.IndexFunc(pods, func(p *planned) bool { return !p.result.Evict })
	if n < 0 {
		return pods
	}
	return pods[:n]
}

// count adds the pods and their totals to the plan, in the order of their names.
func (p *Plan) count(pods []*planned, replicas map[ownerKey]int) {
	p.Pods, p.Namespaces, p.Owners = make([]*PlannedPod, 0, len(pods)), []NamespaceTotal{}, []OwnerTotal{}
	for _, one := range pods {
		p.Pods = append(p.Pods, one.result)
		p.Total.add(one)
	}
	nodes := totalsBy(pods, func(p *planned) string { return p.Node })
	for i := range p.Nodes {
		p.Nodes[i].Total = nodes[p.Nodes[i].Name]
	}
	for name, total := range totalsBy(pods, func(p *planned) string { return p.Namespace }) {
		p.Namespaces = append(p.Namespaces, NamespaceTotal{name, total})
	}
	for key, total := range totalsBy(pods, func(p *planned) ownerKey { return keyOf(p.pod) }) {
		if key.owner != (Owner{}) {
			all := replicas[key]
			p.Owners = append(p.Owners, OwnerTotal{key.namespace, key.owner, total, all, total.Evict > 0 && total.going() == all})
		}
	}
	slices.SortFunc(p.Namespaces, func(a, b NamespaceTotal) int { return strings.Compare(a.Namespace, b.Namespace) })
	slices.SortFunc(p.Owners, func(a, b OwnerTotal) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.String(), b.String()))
	})
}

// totalsBy counts the pods by a key that some pod on a node in question has.
func totalsBy[K comparable](pods []*planned, key func(*planned) K) map[K]Total {
	totals := map[K]Total{}
	for _, p := range pods {
		if p.here {
			totals[key(p)] = Total{}
		}
	}
	for _, p := range pods {
		if total, ok := totals[key(p)]; ok {
			total.add(p)
			totals[key(p)] = total
		}
	}
	return totals
}

// orNone returns an empty list instead of nil, so that JSON has [] and not null.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
