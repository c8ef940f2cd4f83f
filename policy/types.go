package policy

import (
	"strings"

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

// Word returns the method as flags, metrics, logs and JSON write it.
func (m Method) Word() string { return strings.ToLower(string(m)) }

// Methods returns all methods.
func Methods() []string {
	return []string{string(Delete), string(Evict), string(Hold), string(Ignore)}
}

// Mode says whether a policy decides.
type Mode string

const (
	// Enforce makes the policy decide.
	Enforce Mode = "Enforce"

	// Audit reports the decision that the policy would make, and leaves the pair to the next policy.
	Audit Mode = "Audit"
)

// Policy decides each pair of a pod and a trigger taint that it matches, unless an earlier policy does.
type Policy struct {
	// Unique name, in metrics, events and logs.
	Name string `json:"name"`
	// Enforce decides. Audit reports what the policy would decide, and leaves the decision to the next policy. Omitted
	// means Enforce.
	Mode Mode `json:"mode,omitempty"`
	// Pods and taints that the policy applies to. Omitted fields match everything.
	Match Match `json:"match,omitzero"`
	// Delete ignores PodDisruptionBudgets; Evict obeys them; Hold schedules the eviction but does not start it; Ignore
	// treats the taint as absent.
	Method Method `json:"method"`

	// Time after the deadline at which a pod is deleted that could not be evicted, at least 1s. Only with Evict.
	// Omitted means never.
	DeleteAfter *metav1.Duration `json:"deleteAfter,omitempty"`
	// Time that pods may stay. It overrides their tolerations, and changes no pod.
	Tolerations *Tolerations `json:"tolerations,omitempty"`
	// Time that pods may take to terminate.
	GracePeriod *GracePeriod `json:"gracePeriod,omitempty"`
}

// Match selects the pairs of a policy. Empty fields match everything.
type Match struct {
	// Any of these taints. Omitted means every NoExecute taint.
	Taints []Taint `json:"taints,omitempty"`
	// Labels of the node.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// Any of these namespaces. * matches any text, as in team-*.
	Namespaces []string `json:"namespaces,omitempty"`
	// Labels of the namespace.
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// Labels of the pod.
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`
	// Any of these kinds of the owner that controls the pod, such as StatefulSet, of any API group; Job.batch is of the
	// group batch only. Write ReplicaSet for Deployments, and None for pods without a controller.
	OwnerKinds []string `json:"ownerKinds,omitempty"`
	// Range of the pod's priority, including both ends.
	Priority *PriorityRange `json:"priority,omitempty"`
}

// Taint selects the taints that are triggers: taints with a key, or with keys that begin with a prefix.
type Taint struct {
	// Key of the taint. Set either key or keyPrefix; NoSchedule requires key.
	Key string `json:"key,omitempty"`
	// Beginning of the key, such as example.com/.
	KeyPrefix string `json:"keyPrefix,omitempty"`
	// Any of these values. Omitted means any value.
	Values []string `json:"values,omitempty"`
	// Any of these effects: NoExecute or NoSchedule. Omitted means NoExecute.
	Effects []v1.TaintEffect `json:"effects,omitempty"`
}

// PriorityRange is a range of priorities, including both ends.
type PriorityRange struct {
	// Minimum. Omitted means no minimum.
	Min *int32 `json:"min,omitempty"`
	// Maximum. Omitted means no maximum.
	Max *int32 `json:"max,omitempty"`
}

// Tolerations replace or bound the time for which pods tolerate the taint.
type Tolerations struct {
	// For pods that do not tolerate the taint. Required with NoSchedule. 0s means at once.
	Absent *metav1.Duration `json:"absent,omitempty"`
	// Minimum for pods that tolerate the taint for a limited time.
	Min *metav1.Duration `json:"min,omitempty"`
	// Maximum for pods that tolerate the taint for a limited time.
	Max *metav1.Duration `json:"max,omitempty"`
	// For pods that tolerate the taint forever. Omitted means that they stay.
	Unlimited *metav1.Duration `json:"unlimited,omitempty"`
}

// GracePeriod shortens the pods' own grace period.
type GracePeriod struct {
	// Maximum, in whole seconds. It only shortens the pods' own grace periods.
	Max metav1.Duration `json:"max"`
}

// Guards limit how many pods are evicted at once.
type Guards struct {
	// Token buckets. Each eviction takes a token from every rate that matches.
	Rates []Rate `json:"rates,omitempty"`
	// Breakers hold evictions while too many nodes are affected.
	Breakers []Breaker `json:"breakers,omitempty"`
}

// TaintKey selects taints by their key only.
type TaintKey struct {
	// Key of the taint.
	Key string `json:"key"`
}

// Rate is a token bucket: of the cluster, or one for each value of a node label.
type Rate struct {
	// Unique name, in metrics, events and logs.
	Name string `json:"name"`
	// Node label; each of its values has a bucket. Omitted means one bucket for the cluster.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Taints whose evictions are limited, with any value and effect.
	Taints []TaintKey `json:"taints,omitempty"`
	// Evictions per second, 0.001 to 1000000.
	EvictionsPerSecond float64 `json:"evictionsPerSecond"`
	// Evictions that may start at once, 1 to 1000000.
	Burst int `json:"burst"`
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
	// Unique name, in metrics, events and logs.
	Name string `json:"name"`
	// Node label; each of its values is a group of nodes. Omitted means one group for the cluster.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Nodes that count. Omitted means all.
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
	// Taints that make a node affected, with any value and effect. The breaker holds evictions because of them.
	Taints []TaintKey `json:"taints"`
	// The breaker trips if more nodes are affected than this number, or this percentage from 0% to 99%.
	MaxNodes intstr.IntOrString `json:"maxNodes"`
	// The breaker does not trip if fewer nodes are affected. Omitted means 3 with a topologyKey, and 1 without.
	MinNodes *int32 `json:"minNodes,omitempty"`
	// Time between the first sight of a taint and its first eviction, so that an outage is seen before its first pod
	// goes. Omitted means 10s.
	Settle *metav1.Duration `json:"settle,omitempty"`
	// Automatic resets the breaker after resetAfter; Manual requires resetBefore. Omitted means Automatic.
	Reset Reset `json:"reset,omitempty"`
	// Time that few enough nodes must have been affected before a reset, and for which a deleted node still counts.
	// Omitted means 5m.
	ResetAfter *metav1.Duration `json:"resetAfter,omitempty"`
	// Time such as 2026-11-22T10:00:00Z: trips that began earlier end. The breaker trips again only after few enough
	// nodes were affected in between.
	ResetBefore *metav1.Time `json:"resetBefore,omitempty"`
}
