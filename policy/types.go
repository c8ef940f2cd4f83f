package policy

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MaxPolicies is how many policies there may be.
const MaxPolicies = 1000

// Method is what a policy does with a pod.
type Method string

const (
	// Delete deletes the pod; PodDisruptionBudgets are not asked.
	Delete Method = "Delete"

	// Evict asks the eviction subresource, which obeys PodDisruptionBudgets.
	Evict Method = "Evict"

	// Hold plans and shows the eviction, and makes no call.
	Hold Method = "Hold"

	// Ignore treats the taint as if it were not there.
	Ignore Method = "Ignore"
)

// Methods are all methods.
func Methods() []string {
	return []string{string(Delete), string(Evict), string(Hold), string(Ignore)}
}

// Mode says whether a policy decides.
type Mode string

const (
	// Enforce decides.
	Enforce Mode = "Enforce"

	// Audit says what it would decide, and passes the pair on to the next policy.
	Audit Mode = "Audit"
)

// Policy decides each pair of a pod and a trigger taint that it matches, unless an earlier policy does.
type Policy struct {
	Name   string `json:"name"`
	Mode   Mode   `json:"mode,omitempty"` // empty: Enforce
	Match  Match  `json:"match,omitzero"`
	Method Method `json:"method"`

	// DeleteAfter is how long after the deadline a pod is deleted that could not be evicted. Nil: never.
	DeleteAfter *metav1.Duration `json:"deleteAfter,omitempty"`
	Tolerations *Tolerations     `json:"tolerations,omitempty"`
	GracePeriod *GracePeriod     `json:"gracePeriod,omitempty"`
}

// Match says which pairs a policy is about. What is left out matches all.
type Match struct {
	Taints            []Taint               `json:"taints,omitempty"` // any of them; none: any taint of effect NoExecute
	NodeSelector      *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	Namespaces        []string              `json:"namespaces,omitempty"` // names, in which * stands for anything
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	PodSelector       *metav1.LabelSelector `json:"podSelector,omitempty"`
	OwnerKinds        []string              `json:"ownerKinds,omitempty"` // of the controlling owner; None: no controller
	Priority          *PriorityRange        `json:"priority,omitempty"`
}

// Taint says which taints trigger: those of a key, or of keys that begin with a prefix.
type Taint struct {
	Key       string           `json:"key,omitempty"`
	KeyPrefix string           `json:"keyPrefix,omitempty"`
	Values    []string         `json:"values,omitempty"`  // none: any
	Effects   []v1.TaintEffect `json:"effects,omitempty"` // none: NoExecute
}

// PriorityRange is a range of priorities; both ends belong to it.
type PriorityRange struct {
	Min *int32 `json:"min,omitempty"` // nil: no least
	Max *int32 `json:"max,omitempty"` // nil: no most
}

// Tolerations replace or bound the time for which pods bear the taint.
type Tolerations struct {
	Absent    *metav1.Duration `json:"absent,omitempty"` // pods that do not bear it
	Min       *metav1.Duration `json:"min,omitempty"`    // bounds of those that bear it for a time
	Max       *metav1.Duration `json:"max,omitempty"`
	Unlimited *metav1.Duration `json:"unlimited,omitempty"` // pods that bear it for ever
}

// GracePeriod shortens pods' own grace period.
type GracePeriod struct {
	Max metav1.Duration `json:"max"`
}

// Guards bound how much may go at once.
type Guards struct {
	Rates    []Rate    `json:"rates,omitempty"`
	Breakers []Breaker `json:"breakers,omitempty"`
}

// TaintKey names taints by their key alone.
type TaintKey struct {
	Key string `json:"key"`
}

// Rate is a token bucket: of the cluster, or one for each value of a node label.
type Rate struct {
	Name               string     `json:"name"`
	TopologyKey        string     `json:"topologyKey,omitempty"` // empty: the whole cluster
	Taints             []TaintKey `json:"taints,omitempty"`      // none: all
	EvictionsPerSecond float64    `json:"evictionsPerSecond"`
	Burst              int        `json:"burst"`
}

// Reset says how a breaker that has tripped is reset.
type Reset string

const (
	// Automatic resets once few enough nodes have been affected for Breaker.ResetAfter.
	Automatic Reset = "Automatic"

	// Manual resets by Breaker.ResetBefore.
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
