package dump

import (
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// object has the fields of all kinds that are read. A dump is decoded into it and not into the types of Kubernetes,
// because most fields of a pod are not needed, and fields that are not decoded cost little.
type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       spec     `json:"spec"`
	Status     status   `json:"status"`

	// Of ConfigMaps.
	Data map[string]string `json:"data"`

	// Of events.
	InvolvedObject v1.ObjectReference `json:"involvedObject"`
	Reason         string             `json:"reason"`
	Message        string             `json:"message"`
	Type           string             `json:"type"`
	FirstTimestamp metav1.Time        `json:"firstTimestamp"`
	LastTimestamp  metav1.Time        `json:"lastTimestamp"`
	EventTime      metav1.MicroTime   `json:"eventTime"`
}

type metadata struct {
	Name              string                  `json:"name"`
	Namespace         string                  `json:"namespace"`
	UID               types.UID               `json:"uid"`
	ResourceVersion   string                  `json:"resourceVersion"`
	Labels            map[string]string       `json:"labels"`
	Annotations       annotations             `json:"annotations"`
	Generation        int64                   `json:"generation"`
	CreationTimestamp metav1.Time             `json:"creationTimestamp"`
	DeletionTimestamp *metav1.Time            `json:"deletionTimestamp"`
	OwnerReferences   []metav1.OwnerReference `json:"ownerReferences"`
	Finalizers        []string                `json:"finalizers"`
}

type annotations struct {
	Mirror *string `json:"kubernetes.io/config.mirror"`
}

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
	// Of pods.
	Phase v1.PodPhase `json:"phase"`

	// Of pods and nodes.
	Conditions []condition `json:"conditions"`

	// Of budgets.
	ObservedGeneration int64 `json:"observedGeneration"`
	DisruptionsAllowed int32 `json:"disruptionsAllowed"`
	CurrentHealthy     int32 `json:"currentHealthy"`
	DesiredHealthy     int32 `json:"desiredHealthy"`
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
	m := metav1.ObjectMeta{
		Name: o.Metadata.Name, Namespace: o.Metadata.Namespace, UID: o.Metadata.UID, ResourceVersion: o.Metadata.ResourceVersion,
		Finalizers: o.Metadata.Finalizers, Labels: o.Metadata.Labels,
		Generation: o.Metadata.Generation, OwnerReferences: o.Metadata.OwnerReferences,
		CreationTimestamp: o.Metadata.CreationTimestamp, DeletionTimestamp: o.Metadata.DeletionTimestamp,
	}
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
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: o.Spec.Selector, UnhealthyPodEvictionPolicy: o.Spec.Unhealthy},
		Status: policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: o.Status.ObservedGeneration, DisruptionsAllowed: o.Status.DisruptionsAllowed,
			CurrentHealthy: o.Status.CurrentHealthy, DesiredHealthy: o.Status.DesiredHealthy,
		},
	}
}

func (o *object) event() *v1.Event {
	return &v1.Event{
		ObjectMeta: o.meta(), InvolvedObject: o.InvolvedObject, Reason: o.Reason, Message: o.Message, Type: o.Type,
		FirstTimestamp: o.FirstTimestamp, LastTimestamp: o.LastTimestamp, EventTime: o.EventTime,
	}
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
