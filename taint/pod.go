package taint

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pod is all that this program keeps of a pod: the fields for verdicts, policies by labels, messages and eviction
// calls. It is immutable once shared.
type Pod struct {
	// UID identifies the pod everywhere. Namespace and Name are for messages and URLs.
	UID       types.UID
	Namespace string
	Name      string

	// Node is the name of the node that the pod is bound to; empty if it is not bound.
	Node string

	// Bound is the moment from which on the pod counts as bound: no exposure starts before it.
	Bound time.Time

	// Seen is when this process learned the pod's current node and tolerations. A request to the API server that was
	// sent before Seen proves nothing about the pod. No verdict depends on it.
	Seen time.Time

	// Tolerations of the pod, in the order of its spec: the first that matches a taint counts. A cache may leave out
	// tolerations that count for no taint of the pod's node.
	Tolerations []v1.Toleration

	// Labels of the pod, for policies and for [Pod.Workload]. A cache may leave out labels that neither of them reads.
	// Pods with equal labels may share one map.
	Labels map[string]string

	// Controller is the pod's controlling owner, for policies and messages; nil if there is none. Pods of one
	// controller may share it. No verdict of [Decide] depends on it.
	Controller *Owner

	Phase v1.PodPhase

	// GracePeriodSeconds is the pod's terminationGracePeriodSeconds, for policies; nil if it has none. Pods with equal
	// periods may share it. No verdict of [Decide] depends on it.
	GracePeriodSeconds *int64

	// Generation of the pod's spec as last seen; it goes into the condition's observedGeneration.
	Generation int64

	// Priority of the pod; 0 if the pod has none.
	Priority int32

	// Terminating means that the pod has a deletion timestamp.
	Terminating bool

	// Daemon means that the pod's controller is a DaemonSet of the group apps. No verdict of [Decide] depends on it.
	Daemon bool

	// Mirror means that the pod mirrors a static pod: only its kubelet can stop it.
	Mirror bool

	// Disrupted means that the pod's condition DisruptionTarget is already True.
	Disrupted bool

	// Ready means that the pod's condition Ready is True. No verdict depends on it: it counts only for the replicas of
	// this program.
	Ready bool
}

// Key returns the pod's namespace/name.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }
