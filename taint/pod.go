package taint

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pod is all that this program keeps of a pod: what a verdict, a policy by labels, a message and an
// eviction call need. It is immutable once shared.
type Pod struct {
	// UID identifies the pod everywhere. Namespace and Name are for people and for URLs.
	UID       types.UID
	Namespace string
	Name      string

	// Node is the name of the node that the pod is bound to; empty while it is bound to none.
	Node string

	// Bound is the moment from which the pod counts as bound: no exposure starts before it.
	Bound time.Time

	// Seen is the moment this process learnt of the pod's node and tolerations as they are. No verdict
	// rests on it: what was asked of the API server before says nothing of the pod.
	Seen time.Time

	// Tolerations in the order of the pod's spec; the order counts. Pods with equal lists may
	// share one slice.
	Tolerations []v1.Toleration

	// Labels of the pod, for policies. Pods with equal labels may share one map.
	Labels map[string]string

	// Controller is the pod's controlling owner; nil when there is none, or when nobody asked for it.
	// Pods of one controller may share it. No verdict rests on it.
	Controller *Owner

	Phase v1.PodPhase

	// Priority of the pod; 0 when the pod names none.
	Priority int32

	// Generation of the pod's spec as last seen; it goes into the condition's observedGeneration.
	Generation int64

	// Terminating says that the pod has a deletion timestamp.
	Terminating bool

	// Mirror says that the pod mirrors a static pod: only its kubelet can stop it.
	Mirror bool

	// Disrupted says that the pod's condition DisruptionTarget is already True.
	Disrupted bool
}

// Key is the pod's namespace/name, as people write it.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }
