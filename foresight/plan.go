package foresight

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// APIVersion is the version of the answers in JSON.
const APIVersion = "taint-manager/v1alpha1"

// Plan says what would happen.
type Plan struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // Plan

	// At is the moment at which the nodes get the taints.
	At time.Time `json:"at"`

	// EvictionMethod is delete or evict. With delete, budgets are not asked.
	EvictionMethod string `json:"evictionMethod"`

	Nodes []PlannedNode `json:"nodes"`

	Total Total `json:"total"`

	// Pods of the nodes: those that go in the order in which they go, then those that stay.
	Pods []PlannedPod `json:"pods"`

	Namespaces []NamespaceTotal `json:"namespaces"`
	Owners     []OwnerTotal     `json:"owners"`

	// Budgets are those that cover pods that go.
	Budgets []BudgetPlan `json:"budgets"`

	// Notes say what is to be known about the changes themselves.
	Notes []string `json:"notes,omitempty"`
}

// PlannedNode is a node that gets the taints.
type PlannedNode struct {
	Name    string       `json:"name"`
	Changes []NodeChange `json:"changes"`
}

// PlannedPod is what becomes of one pod.
type PlannedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node"`
	Owner     *Owner `json:"owner,omitempty"`

	Prediction `json:",inline"`

	// InSeconds is how long after the plan's moment the pod goes; 0 is at once.
	InSeconds *float64 `json:"inSeconds,omitempty"`

	// Without is what becomes of the pod without the changes, where it goes even then or was to go.
	Without *Prediction `json:"without,omitempty"`

	// BlockedBy names the budgets that would block the eviction with the method evict.
	BlockedBy []string `json:"blockedBy,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// Total counts pods.
type Total struct {
	Evict int `json:"evict"`
	Stay  int `json:"stay"`

	// Saved is how many of those that stay would go without the changes.
	Saved int `json:"saved"`

	// Anyway is how many of those that go would go without the changes, too.
	Anyway int `json:"anyway"`

	// Blocked is how many of those that go budgets would block with the method evict.
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

	// Replicas are its pods on all nodes, but those that have finished or are being deleted.
	Replicas int `json:"replicas"`

	// LosesAll says that each of its replicas goes.
	LosesAll bool `json:"losesAll"`
}

// Unsure says whether the time of some pod, with the plan or without it, is not known but within a range.
func (p *Plan) Unsure() bool {
	return slices.ContainsFunc(p.Pods, func(p PlannedPod) bool {
		return p.Earliest != nil || p.Without != nil && p.Without.Earliest != nil
	})
}

// planned is a pod with what becomes of it.
type planned struct {
	pod
	result PlannedPod
}

// add counts a pod.
func (t *Total) add(p *PlannedPod) {
	if !p.Evict {
		t.Stay++
		if p.Without != nil {
			t.Saved++
		}
		return
	}
	t.Evict++
	if p.Without != nil {
		t.Anyway++
	}
	if len(p.BlockedBy) > 0 {
		t.Blocked++
	}
}

// Plan says what would happen. It returns an error when the question does not fit what there is.
func (i *Inventory) Plan() (*Plan, error) {
	if err := i.misfit(); err != nil {
		return nil, err
	}
	plan := &Plan{APIVersion: APIVersion, Kind: "Plan", At: *utc(i.question.At), EvictionMethod: i.question.Method}
	views := i.change(plan)
	if err := absent(plan.Nodes, i.question.Changes); err != nil {
		return nil, err
	}
	plan.Notes = notes(i.question.Changes, plan.Nodes)
	pods := i.judge(views)
	slices.SortFunc(pods, inOrder)
	plan.Budgets = orNone(ask(i.budgets, going(pods)))
	plan.count(pods, i.replicas)
	return plan, nil
}

// view is a node before and after the changes.
type view struct {
	before, after nodeEstimate
	taints        []v1.Taint // after
}

// change makes the changes on all nodes.
func (i *Inventory) change(plan *Plan) map[string]view {
	views := map[string]view{}
	for _, n := range i.nodes {
		before := estimateOf(n, i.records[n.Name], i.question.At)
		taints, done := apply(i.question.Changes, n.Spec.Taints)
		views[n.Name] = view{before, before.with(taints, "", i.question.At), taints}
		plan.Nodes = append(plan.Nodes, PlannedNode{n.Name, done})
	}
	slices.SortFunc(plan.Nodes, func(a, b PlannedNode) int { return cmp.Compare(a.Name, b.Name) })
	return views
}

// judge says what becomes of each pod.
func (i *Inventory) judge(views map[string]view) []*planned {
	var pods []*planned
	for _, p := range i.pods {
		v, ok := views[p.Node]
		if !ok {
			continue
		}
		result := PlannedPod{
			Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Node,
			Prediction: v.after.judge(&p.Pod, i.question.Rules),
		}
		if p.owner != (Owner{}) {
			result.Owner = &p.owner
		}
		if without := v.before.judge(&p.Pod, i.question.Rules); without.Evict {
			result.Without = &without
		}
		if result.SinceFrom == FromSight {
			result.SinceFrom = FromPlan
		}
		if result.Evict {
			result.Warnings = shadowed(&p.Pod, v.taints, i.question.Rules)
			seconds := max(0, result.At.Sub(i.question.At).Seconds())
			result.InSeconds = &seconds
		}
		pods = append(pods, &planned{p, result})
	}
	return pods
}

// inOrder sorts those that go by their time, and all by their names.
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

// going are the pods that go, the first ones of all.
func going(pods []*planned) []*planned {
	n := slices.IndexFunc(pods, func(p *planned) bool { return !p.result.Evict })
	if n < 0 {
		return pods
	}
	return pods[:n]
}

// count adds up, and takes the pods in.
func (p *Plan) count(pods []*planned, replicas map[ownerKey]int) {
	p.Pods = []PlannedPod{}
	namespaces, owners := map[string]*NamespaceTotal{}, map[ownerKey]*OwnerTotal{}
	for _, pod := range pods {
		p.Pods = append(p.Pods, pod.result)
		p.Total.add(&pod.result)
		namespace := namespaces[pod.Namespace]
		if namespace == nil {
			namespace = &NamespaceTotal{Namespace: pod.Namespace}
			namespaces[pod.Namespace] = namespace
		}
		namespace.add(&pod.result)
		if key := keyOf(&pod.pod); pod.owner != (Owner{}) {
			if owners[key] == nil {
				owners[key] = &OwnerTotal{Namespace: key.namespace, Owner: key.owner, Replicas: replicas[key]}
			}
			owners[key].add(&pod.result)
		}
	}
	for _, namespace := range namespaces {
		p.Namespaces = append(p.Namespaces, *namespace)
	}
	for _, owner := range owners {
		owner.LosesAll = owner.Evict > 0 && owner.Evict == owner.Replicas
		p.Owners = append(p.Owners, *owner)
	}
	p.Namespaces, p.Owners = orNone(p.Namespaces), orNone(p.Owners)
	slices.SortFunc(p.Namespaces, func(a, b NamespaceTotal) int { return strings.Compare(a.Namespace, b.Namespace) })
	slices.SortFunc(p.Owners, func(a, b OwnerTotal) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.String(), b.String()))
	})
}

// orNone is an empty list where there is none, so that JSON says [] and not null.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
