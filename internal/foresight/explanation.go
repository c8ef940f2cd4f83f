package foresight

import (
	"cmp"
	"time"
)

// Explanation explains when and why a pod is evicted, or what is still known about a deleted one.
type Explanation struct {
	Header

	Pod        ExplainedPod `json:"pod"`
	Prediction *Prediction  `json:"prediction,omitempty"` // nil if the pod is gone

	// Builtin says how the built-in controller would treat this running pod differently, as far as the current state
	// shows; empty if it would not.
	Builtin string `json:"builtin,omitempty"`

	Stuck string `json:"stuck,omitempty"` // what to inspect if the pod outlives its grace period

	// Pace says how a limit that applies to the pod delays evictions, as in the answer of pending; nil if it delays
	// none, or if the other pods were not read.
	Pace *Pace `json:"pace,omitempty"`

	// StartsAt is the earliest time at which the limits let the eviction start, given that some pods of its namespace
	// and node are evicted before it; nil if the limits delay it by less than a second.
	StartsAt *time.Time `json:"startsAt,omitempty"`

	// Blocker is what blocks the eviction of an overdue pod, or of a pod that its budgets block forever.
	Blocker string `json:"blocker,omitempty"`

	Commands []Command `json:"commands,omitempty"` // commands for a pod that will be evicted

	// History says how a deleted or terminating pod was removed, or that an earlier pod of this name was evicted.
	History string        `json:"history,omitempty"`
	Past    *PastEviction `json:"past,omitempty"` // that eviction; nil if events report none

	EvictionMethod string `json:"evictionMethod,omitempty"` // delete, evict or ignore; delete ignores budgets

	Budgets []ExplainedBudget `json:"budgets,omitempty"` // the PodDisruptionBudgets that select the pod

	// Taints of the pod's node, one by one, and NoExecute taints of its devices. Empty if no taint matters: the pod has
	// finished, is being deleted, or can't be evicted.
	Taints []ExplainedTaint `json:"taints,omitempty"`

	Disruption *Disruption `json:"disruption,omitempty"` // nil if the pod has no such condition
	Events     []Event     `json:"events,omitempty"`     // events of the pod, oldest first

	Remarks

	read time.Time // when the pod was read; zero means At
}

// Names returns the namespace and name of the pod if it is to be evicted.
func (e *Explanation) Names() []string {
	if e.Prediction == nil || !e.Prediction.Evict {
		return nil
	}
	return []string{e.Pod.String()}
}

// Evictions returns 1 if the pod is to be evicted.
func (e *Explanation) Evictions() int { return len(e.Names()) }

// Method returns the first action on the pod, delete or evict, by its policy or, if none decides, by the manager.
func (e *Explanation) Method() string { return cmp.Or(e.Prediction.Method, e.EvictionMethod) }

// Overdue reports whether the pod should have been gone when it was read, and its deletion has not begun.
func (e *Explanation) Overdue() bool {
	return e.Prediction != nil && e.Prediction.Overdue(cmp.Or(e.read, e.At))
}

// keptBy says how a budget keeps the pod, and what the description of the budget shows; "" if it does not keep the pod.
// forever means as long as the pod exists, unless a policy deletes it.
func (e *Explanation) keptBy(b *ExplainedBudget) (keeps, shows string, forever bool) {
	switch {
	case e.Method() != evictMethod || !b.Asked:
		return "", "", false
	case len(e.Budgets) > 1:
		return "several PodDisruptionBudgets select it, and the API server never evicts such a pod",
			"show one of the budgets that select this pod", true
	case b.Stuck:
		keeps = "PodDisruptionBudget " + b.Name + " allows no disruption, and can't recover while this pod exists, " +
			"which is not ready because its node is dead"
		if e.Prediction.DeleteAt == nil {
			keeps += "; use a policy with method: Delete, or with deleteAfter"
		}
		return keeps, "show why the budget allows no disruption", true
	case b.Never:
		return "never by Evict: PodDisruptionBudget " + b.Name + " permits no disruption at all",
			"show why the budget permits no disruption", true
	case b.Admits == 0:
		return "PodDisruptionBudget " + b.Name + " allows no disruption now",
			"show why the budget allows no disruption", false
	}
	return "", "", false
}

// ExplainedPod is the explained pod. For a deleted pod, only the name is known.
type ExplainedPod struct {
	PodRef
	Phase string     `json:"phase,omitempty"`
	Gone  bool       `json:"gone"`           // the pod no longer exists
	Ends  *time.Time `json:"ends,omitempty"` // end of the grace period of a pod that is being deleted
}

// ExplainedTaint is one taint of the pod's node, or of a device that the pod uses, and what it alone would do.
type ExplainedTaint struct {
	Taint  string      `json:"taint"`
	Device *UsedDevice `json:"device,omitempty"` // that has the taint; nil if the node has it

	Since         *time.Time `json:"since,omitempty"`         // latest possible start; nil if the taint does not evict
	SinceEarliest *time.Time `json:"sinceEarliest,omitempty"` // earliest possible start, if it is unknown
	SinceFrom     string     `json:"sinceFrom,omitempty"`     // the source of the start; see Prediction

	Toleration        string `json:"toleration,omitempty"`        // the matching toleration that counts; empty if none
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"` // its tolerationSeconds; nil if it has none

	// NearMiss is a toleration that, but for one field, would tolerate the taint longer; nil if the taint does not
	// evict.
	NearMiss *NearMiss `json:"nearMiss,omitempty"`

	Arithmetic []string    `json:"arithmetic,omitempty"` // the deadline, step by step; empty if it does not evict
	Prediction *Prediction `json:"prediction,omitempty"` // for this taint alone; nil if it does not evict
}

// Granted returns the toleration that counts, with its seconds; "" if none does.
func (e *ExplainedTaint) Granted() string { return withSeconds(e.Toleration, e.TolerationSeconds) }

// ExplainedBudget is a PodDisruptionBudget that selects the pod, as it stands now.
type ExplainedBudget struct {
	Name   string `json:"name"`
	Admits int    `json:"admits"`          // number of evictions that the budget allows now
	Never  bool   `json:"never,omitempty"` // it permits no disruption at all

	// Asked reports whether the budget applies to an eviction of this pod. It does not apply to pods that are not
	// running, nor to some that are not ready.
	Asked bool `json:"asked"`

	// Stuck reports whether the budget requires this pod, which is not ready because its node is dead: the budget
	// can't recover while the pod exists.
	Stuck bool `json:"stuck,omitempty"`
}

// Disruption is the pod's condition DisruptionTarget.
type Disruption struct {
	Reason  string     `json:"reason"`
	Message string     `json:"message"`
	Since   *time.Time `json:"since,omitempty"`
}

// Event is one event of the pod.
type Event struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`

	Annotations map[string]string `json:"annotations,omitempty"`
}
