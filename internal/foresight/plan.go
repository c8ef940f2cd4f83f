package foresight

import (
	"cmp"
	"time"
)

// Plan predicts the effect of changes of taints.
type Plan struct {
	Header

	// EvictionMethod is delete or evict. With delete, budgets are not asked.
	EvictionMethod string `json:"evictionMethod"`

	// Compared is the name of the configuration that the changes are compared with; empty if they are compared with
	// no changes.
	Compared string `json:"compared,omitempty"`

	Focus Focus         `json:"-"` // what was asked for
	Nodes []PlannedNode `json:"nodes"`
	Total Total         `json:"total"`

	// Pods to be evicted, in the order of their evictions, and then the pods of the nodes in question that stay.
	// Pods of other nodes that are evicted are included, as they ask the same budgets; their effect is anyway.
	Pods []*PlannedPod `json:"pods"`

	Namespaces []NamespaceTotal `json:"namespaces"`
	Owners     []OwnerTotal     `json:"owners"`
	Budgets    []BudgetPlan     `json:"budgets"` // those that cover pods to be evicted

	BudgetsUnknown bool `json:"-"` // budgets were not read

	Remarks
}

// Names returns the namespaces and names of the pods that go, or go sooner, because of the change.
func (p *Plan) Names() []string {
	var names []string
	for _, pod := range p.Pods {
		if pod.Effect == Evicted || pod.Effect == Sooner {
			names = append(names, pod.String())
		}
	}
	return names
}

// Evictions returns the number of pods that go, or go sooner, because of the change, and that of all pods that go.
func (p *Plan) Evictions() (because, all int) {
	return p.Total.Evict, p.Total.going()
}

// AsksBudgets reports whether a pod is evicted, not deleted.
func (p *Plan) AsksBudgets(pod *PlannedPod) bool {
	return pod.Evict && cmp.Or(pod.Method, p.EvictionMethod) == evictMethod
}

// Waits reports whether a pod is evicted, not deleted, and its eviction waits until budgets admit more.
func (p *Plan) Waits(pod *PlannedPod) bool { return len(pod.BlockedBy) > 0 && p.AsksBudgets(pod) }

// PlannedNode is a node that gets the taints.
type PlannedNode struct {
	Name    string           `json:"name"`
	Changes []NodeChange     `json:"changes"`
	Total   `json:",inline"` // of its pods
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

	InSeconds *float64    `json:"inSeconds,omitempty"` // from the plan's time to the eviction; 0 is at once
	Without   *Prediction `json:"without,omitempty"`   // without the changes; nil if the pod would stay

	// BlockedBy names the budgets that would block the eviction with the method evict.
	BlockedBy []string `json:"blockedBy,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`

	// FirstMatch is set if a later toleration would tolerate a taint longer than the first that matches.
	FirstMatch bool `json:"-"`

	of       *pod // until the plan is finished
	selected bool // on a node in question
	waits    bool // until budgets admit its eviction
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

// Question is the question that a plan answers.
type Question struct {
	Selection // of the nodes that get the taints
	Changes   []Change
	At        time.Time // at which the nodes get the taints

	// Compare, if not nil, is the configuration that the changes are compared with, instead of no changes. Compared is
	// the name of that configuration.
	Compare  *Ruleset
	Compared string
}
