package policy

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MaxPolicies is the maximum number of policies.
const MaxPolicies = 100

// Method is the action of a policy on a pod.
type Method string

const (
	// Delete deletes the pod; PodDisruptionBudgets do not apply.
	Delete Method = "Delete"

	// Evict creates an Eviction, which obeys PodDisruptionBudgets.
	Evict Method = "Evict"

	// Hold schedules and shows the eviction, and makes no call.
	Hold Method = "Hold"

	// Ignore treats the taint as absent.
	Ignore Method = "Ignore"
)

// Methods returns all methods.
func Methods() []string {
	return []string{string(Delete), string(Evict), string(Hold), string(Ignore)}
}

// Mode is whether a policy decides.
type Mode string

const (
	// Enforce makes the policy decide.
	Enforce Mode = "Enforce"

	// Audit reports the decision that the policy would make, and leaves the pair to the next policy.
	Audit Mode = "Audit"
)

// Policy decides each pair of a pod and a trigger taint that it matches, unless an earlier policy does.
type Policy struct {
	Name   string `json:"name"`
	Mode   Mode   `json:"mode,omitempty"` // empty: Enforce
	Match  Match  `json:"match,omitzero"`
	Method Method `json:"method"`

	// DeleteAfter is how long after the deadline a pod is deleted that could not be evicted. Nil means never.
	DeleteAfter *metav1.Duration `json:"deleteAfter,omitempty"`
	Tolerations *Tolerations     `json:"tolerations,omitempty"`
	GracePeriod *GracePeriod     `json:"gracePeriod,omitempty"`
}

// Match selects the pairs of a policy. Empty fields match everything.
type Match struct {
	// any of them; empty means any taint of effect NoExecute
	Taints            []Taint               `json:"taints,omitempty"`
	NodeSelector      *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	Namespaces        []string              `json:"namespaces,omitempty"` // names, in which * matches any text
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	PodSelector       *metav1.LabelSelector `json:"podSelector,omitempty"`
	// kinds of the controlling owner; None matches pods without a controller
	OwnerKinds []string       `json:"ownerKinds,omitempty"`
	Priority   *PriorityRange `json:"priority,omitempty"`
}

// Taint selects the taints that are triggers: taints with a key, or with keys that begin with a prefix.
type Taint struct {
	Key       string           `json:"key,omitempty"`
	KeyPrefix string           `json:"keyPrefix,omitempty"`
	Values    []string         `json:"values,omitempty"`  // empty means any
	Effects   []v1.TaintEffect `json:"effects,omitempty"` // empty means NoExecute
}

// PriorityRange is a range of priorities, including both ends.
type PriorityRange struct {
	Min *int32 `json:"min,omitempty"` // nil means no minimum
	Max *int32 `json:"max,omitempty"` // nil means no maximum
}

// Tolerations replace or bound the time for which pods tolerate the taint.
type Tolerations struct {
	Absent    *metav1.Duration `json:"absent,omitempty"` // for pods that do not tolerate it
	Min       *metav1.Duration `json:"min,omitempty"`    // bounds for pods that tolerate it for a limited time
	Max       *metav1.Duration `json:"max,omitempty"`
	Unlimited *metav1.Duration `json:"unlimited,omitempty"` // for pods that tolerate it without a limit
}

// GracePeriod shortens the pods' own grace period.
type GracePeriod struct {
	Max metav1.Duration `json:"max"`
}

// Guards limit how many pods are evicted at once.
type Guards struct {
	Rates    []Rate    `json:"rates,omitempty"`
	Breakers []Breaker `json:"breakers,omitempty"`
}

// TaintKey selects taints by their key only.
type TaintKey struct {
	Key string `json:"key"`
}

// Rate is a token bucket: of the cluster, or one for each value of a node label.
type Rate struct {
	Name               string     `json:"name"`
	TopologyKey        string     `json:"topologyKey,omitempty"` // empty: the whole cluster
	Taints             []TaintKey `json:"taints,omitempty"`      // empty means all
	EvictionsPerSecond float64    `json:"evictionsPerSecond"`
	Burst              int        `json:"burst"`
}

// Reset is the way in which a tripped breaker is reset.
type Reset string

const (
	// Automatic resets the breaker after few enough nodes have been affected for Breaker.ResetAfter.
	Automatic Reset = "Automatic"

	// Manual resets the breaker by Breaker.ResetBefore.
	Manual Reset = "Manual"
)

// Breaker holds evictions while too many nodes of a group are affected.
type Breaker struct {
	Name         string                `json:"name"`
	TopologyKey  string                `json:"topologyKey,omitempty"` // empty: the whole cluster
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	Taints       []TaintKey            `json:"taints"`
	MaxNodes     intstr.IntOrString    `json:"maxNodes"`
	MinNodes     *int32                `json:"minNodes,omitempty"`
	Settle       *metav1.Duration      `json:"settle,omitempty"`
	Reset        Reset                 `json:"reset,omitempty"` // empty: Automatic
	ResetAfter   *metav1.Duration      `json:"resetAfter,omitempty"`
	ResetBefore  *metav1.Time          `json:"resetBefore,omitempty"`
}
