package dump

import (
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object has the fields of all kinds that are read: those of an event, and those of the other kinds. A dump is decoded
// into it and not into the types of Kubernetes, because most fields of a pod are not needed.
type object struct {
	v1.Event
	Metadata metadata          `json:"metadata"`
	Spec     spec              `json:"spec"`
	Status   status            `json:"status"`
	Data     map[string]string `json:"data"` // of ConfigMaps
}

// metadata is that of Kubernetes, except for what may be long and is not needed.
type metadata struct {
	metav1.ObjectMeta
	Annotations   annotations `json:"annotations"`
	ManagedFields skipped     `json:"managedFields"`
}

type annotations struct {
	Mirror *string `json:"kubernetes.io/config.mirror"`
}

// skipped is a value that is not decoded.
type skipped struct{}

// UnmarshalJSON accepts every value.
func (*skipped) UnmarshalJSON([]byte) error { return nil }

type spec struct {
	// Of nodes.
	Taints []v1.Taint `json:"taints"`

	// Of pods.
	NodeName    string          `json:"nodeName"`
	Tolerations []v1.Toleration `json:"tolerations"`
	Priority    *int32          `json:"priority"`

	// Of budgets.
	Selector  *metav1.LabelSelector                    `json:"selector"`
	Unhealthy *policyv1.UnhealthyPodEvictionPolicyType `json:"unhealthyPodEvictionPolicy"`
}

type status struct {
	policyv1.PodDisruptionBudgetStatus

	// Of pods.
	Phase v1.PodPhase `json:"phase"`

	// Of pods and nodes.
	Conditions []condition `json:"conditions"`
}

// condition has the fields of a pod's condition, and the heartbeat of a node's.
type condition struct {
	v1.PodCondition
	LastHeartbeatTime metav1.Time `json:"lastHeartbeatTime"`
}

// The kinds that are read.
const (
	kindNode   = "v1/Node"
	kindPod    = "v1/Pod"
	kindBudget = "policy/v1/PodDisruptionBudget"
	kindEvent  = "v1/Event"
	kindMap    = "v1/ConfigMap"
	kindSpace  = "v1/Namespace"
)

func (o *object) kind() string { return o.APIVersion + "/" + o.Kind }

// wanted reports whether the kind is one of those that are read.
func (o *object) wanted() bool {
	switch o.kind() {
	case kindNode, kindPod, kindBudget, kindEvent, kindMap, kindSpace:
		return true
	}
	return false
}

// meta returns the object's metadata. Of the annotations it keeps only the mirror pod's.
func (o *object) meta() metav1.ObjectMeta {
	m := o.Metadata.ObjectMeta
	if o.Metadata.Annotations.Mirror != nil {
		m.Annotations = map[string]string{v1.MirrorPodAnnotationKey: *o.Metadata.Annotations.Mirror}
	}
	return m
}

func (o *object) node() *v1.Node {
	return &v1.Node{ObjectMeta: o.meta(), Spec: v1.NodeSpec{Taints: o.Spec.Taints}}
}

func (o *object) pod() *v1.Pod {
	return &v1.Pod{
		ObjectMeta: o.meta(),
		Spec:       v1.PodSpec{NodeName: o.Spec.NodeName, Tolerations: o.Spec.Tolerations, Priority: o.Spec.Priority},
		Status:     v1.PodStatus{Phase: o.Status.Phase, Conditions: o.conditions()},
	}
}

func (o *object) conditions() []v1.PodCondition {
	if o.Status.Conditions == nil {
		return nil
	}
	list := make([]v1.PodCondition, len(o.Status.Conditions))
	for i := range list {
		list[i] = o.Status.Conditions[i].PodCondition
	}
	return list
}

// times calls tell with each timestamp in the object: the cluster's state is at least as new as each of them.
func (o *object) times(tell func(time.Time)) {
	tell(o.Metadata.CreationTimestamp.Time)
	if o.Metadata.DeletionTimestamp != nil {
		tell(o.Metadata.DeletionTimestamp.Time)
	}
	for i := range o.Status.Conditions {
		tell(o.Status.Conditions[i].LastTransitionTime.Time)
		tell(o.Status.Conditions[i].LastHeartbeatTime.Time)
	}
	for i := range o.Spec.Taints {
		if added := o.Spec.Taints[i].TimeAdded; added != nil {
			tell(added.Time)
		}
	}
	tell(o.FirstTimestamp.Time)
	tell(o.LastTimestamp.Time)
	tell(o.EventTime.Time)
}

func (o *object) budget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: o.meta(),
		Spec: policyv1.PodDisruptionBudgetSpec{
			Selector:                   o.Spec.Selector,
			UnhealthyPodEvictionPolicy: o.Spec.Unhealthy,
		},
		Status: o.Status.PodDisruptionBudgetStatus,
	}
}

func (o *object) event() *v1.Event {
	e := o.Event
	e.TypeMeta, e.ObjectMeta = metav1.TypeMeta{}, o.meta()
	return &e
}

func (o *object) space() *v1.Namespace { return &v1.Namespace{ObjectMeta: o.meta()} }

func (o *object) configMap() *v1.ConfigMap {
	return &v1.ConfigMap{ObjectMeta: o.meta(), Data: o.Data}
}

// name returns the object's kind and name, as people write them.
func (o *object) name() string {
	if o.Metadata.Namespace == "" {
		return o.Metadata.Name
	}
	return o.Metadata.Namespace + "/" + o.Metadata.Name
}
