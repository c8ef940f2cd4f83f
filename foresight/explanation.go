package foresight

import "time"

// Explanation says what becomes of one pod, or what is still known of one that is gone.
type Explanation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // Explanation

	// Rules are those by which the answer is: taint-manager.
	Rules string `json:"rules"`

	// At is the moment of the question.
	At time.Time `json:"at"`

	Pod ExplainedPod `json:"pod"`

	// Prediction is what becomes of the pod; not there when it is gone.
	Prediction *Prediction `json:"prediction,omitempty"`

	// Original says how the original controller would decide otherwise, as far as the present state shows
	// it; left out where it would decide alike.
	Original string `json:"original,omitempty"`

	// Stuck says what to look at for a pod that should be gone by its grace period.
	Stuck string `json:"stuck,omitempty"`

	// EvictionMethod is the one that was asked about: delete or evict. With delete, budgets are not asked.
	EvictionMethod string `json:"evictionMethod,omitempty"`

	// Manager is what the manager says of the pod; not there where it was not asked.
	Manager *Managed `json:"manager,omitempty"`

	// Budgets are those that select the pod.
	Budgets []ExplainedBudget `json:"budgets,omitempty"`

	// Taints of the pod's node, one by one. Left out where no taint matters: the pod is finished, is
	// going already, or can't be evicted.
	Taints []ExplainedTaint `json:"taints,omitempty"`

	// Disruption is what the pod's condition DisruptionTarget tells.
	Disruption *Disruption `json:"disruption,omitempty"`

	// Events of the pod, the oldest first.
	Events []Event `json:"events,omitempty"`

	Warnings []string `json:"warnings,omitempty"`

	// Notes say what the answer does not take into account.
	Notes []string `json:"notes,omitempty"`
}

// ExplainedPod is the pod in question. Of one that is gone only its name is known.
type ExplainedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	Node      string `json:"node,omitempty"`
	Owner     *Owner `json:"owner,omitempty"`
	Phase     string `json:"phase,omitempty"`

	// Gone says that the pod is not there any more.
	Gone bool `json:"gone"`

	// Ends is when a pod that is being deleted is to be gone.
	Ends *time.Time `json:"ends,omitempty"`
}

// ExplainedTaint is one taint of the pod's node, and what it alone would do.
type ExplainedTaint struct {
	Taint string `json:"taint"`

	// Since when the taint is there; where that is not known, at the latest. Not there for taints that
	// evict nobody.
	Since *time.Time `json:"since,omitempty"`

	// SinceEarliest is set where since when is not known.
	SinceEarliest *time.Time `json:"sinceEarliest,omitempty"`

	// SinceFrom is what tells since when: journal, timeAdded or, where nothing does, unknown.
	SinceFrom string `json:"sinceFrom,omitempty"`

	// Toleration is the first of the pod's that matches; empty when none does.
	Toleration string `json:"toleration,omitempty"`

	// TolerationSeconds are those of the toleration; not there when it has no limit.
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`

	// Arithmetic says step by step what follows from this taint; not there for taints that evict nobody.
	Arithmetic []string `json:"arithmetic,omitempty"`

	// Prediction is what would become of the pod were this the only taint; not there for taints that evict
	// nobody.
	Prediction *Prediction `json:"prediction,omitempty"`
}

// ExplainedBudget is a PodDisruptionBudget that selects the pod, as it stands now.
type ExplainedBudget struct {
	Name string `json:"name"`

	// Admits is how many evictions it admits now.
	Admits int `json:"admits"`

	// Asked says whether an eviction of this pod asks the budget: pods that are not running, and some that
	// are not ready, go without it.
	Asked bool `json:"asked"`
}

// Managed is what a manager says of a pod.
type Managed struct {
	// Identity of the replica that has answered; Role is leading or standby.
	Identity string `json:"identity,omitempty"`
	Role     string `json:"role"`

	// State of the eviction: scheduled, due, in-flight, blocked, refused, delayed or done; evicted where the
	// manager has evicted the pod; left out where it has no eviction of the pod.
	State string `json:"state,omitempty"`

	// At is when the pod is to go by the manager's word; or when it was evicted.
	At *time.Time `json:"at,omitempty"`

	// SlowPlace says that the eviction waits for a slow place, because calls for pods like it are slow.
	SlowPlace bool `json:"slowPlace,omitempty"`

	// Attempts is how many calls were made. Cause and Message are the outcome of the last one, and Budget is the
	// PodDisruptionBudget that it names. NextTry is when the next may start.
	Attempts int        `json:"attempts,omitempty"`
	Cause    string     `json:"cause,omitempty"`
	Message  string     `json:"message,omitempty"`
	Budget   string     `json:"budget,omitempty"`
	NextTry  *time.Time `json:"nextTry,omitempty"`
}

// Disruption is a condition DisruptionTarget.
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
}
