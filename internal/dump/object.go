package dump

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
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
	Data     map[string]string `json:"data"`  // of ConfigMaps
	Items    jsontext.Value    `json:"items"` // of a list of nothing
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

// typed returns the object as a type of Kubernetes; nil if its kind is not one of those that are read. Of the
// annotations it keeps only the mirror pod's.
func (o *object) typed() any {
	meta := o.Metadata.ObjectMeta
	if o.Metadata.Annotations.Mirror != nil {
		meta.Annotations = map[string]string{v1.MirrorPodAnnotationKey: *o.Metadata.Annotations.Mirror}
	}
	switch o.APIVersion + "/" + o.Kind {
	case "v1/Node":
		return &v1.Node{ObjectMeta: meta, Spec: v1.NodeSpec{Taints: o.Spec.Taints}}
	case "v1/Pod":
		spec := v1.PodSpec{NodeName: o.Spec.NodeName, Tolerations: o.Spec.Tolerations, Priority: o.Spec.Priority}
		status := v1.PodStatus{Phase: o.Status.Phase, Conditions: o.conditions()}
		return &v1.Pod{ObjectMeta: meta, Spec: spec, Status: status}
	case "policy/v1/PodDisruptionBudget":
		spec := policyv1.PodDisruptionBudgetSpec{
			Selector: o.Spec.Selector, UnhealthyPodEvictionPolicy: o.Spec.Unhealthy,
		}
		return &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: spec, Status: o.Status.PodDisruptionBudgetStatus}
	case "v1/Event":
		e := o.Event
		e.TypeMeta, e.ObjectMeta = metav1.TypeMeta{}, meta
		return &e
	case "v1/ConfigMap":
		return &v1.ConfigMap{ObjectMeta: meta, Data: o.Data}
	case "v1/Namespace":
		return &v1.Namespace{ObjectMeta: meta}
	}
	return nil
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

// times returns the timestamps in the object: the cluster's state is at least as new as each of them. A
// deletionTimestamp is not among them, as it is the end of a grace period.
func (o *object) times() []time.Time {
	list := []time.Time{
		o.Metadata.CreationTimestamp.Time, o.FirstTimestamp.Time, o.LastTimestamp.Time, o.EventTime.Time,
	}
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		list = append(list, c.LastTransitionTime.Time, c.LastHeartbeatTime.Time)
	}
	for i := range o.Spec.Taints {
		if added := o.Spec.Taints[i].TimeAdded; added != nil {
			list = append(list, added.Time)
		}
	}
	return list
}

// name returns the object's namespace and name, as people write them.
func (o *object) name() string {
	return strings.TrimPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, "/")
}
