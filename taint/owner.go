package taint

import "strings"

// Owner names an object that owns pods, in the namespace of its pods.
type Owner struct {
	Kind  string
	Group string // of the API; empty for the core group
	Name  string
}

// String returns KIND.GROUP/NAME, or "" for no owner.
func (o Owner) String() string {
	switch {
	case o.Kind == "":
		return ""
	case o.Group == "":
		return o.Kind + "/" + o.Name
	}
	return o.Kind + "." + o.Group + "/" + o.Name
}

// PodTemplateHash is the label that a Deployment gives to the pods of each of its ReplicaSets.
const PodTemplateHash = "pod-template-hash"

// Workload returns the workload that a pod belongs to: the Deployment of a ReplicaSet whose name ends in the pod's
// template hash, otherwise the controller itself. It does not allocate.
func Workload(controller Owner, labels map[string]string) Owner {
	hash := labels[PodTemplateHash]
	if controller.Kind != "ReplicaSet" || hash == "" {
		return controller
	}
	deployment, found := strings.CutSuffix(controller.Name, "-"+hash)
	if !found || deployment == "" {
		return controller
	}
	return Owner{Kind: "Deployment", Group: controller.Group, Name: deployment}
}

// ReplicaOf reports whether both pods have the same controlling owner.
func (p *Pod) ReplicaOf(other *Pod) bool {
	return p.Controller != nil && other.Controller != nil && p.Namespace == other.Namespace &&
		*p.Controller == *other.Controller
}

// Workload returns the workload that the pod belongs to; empty if it has no controller.
func (p *Pod) Workload() Owner {
	if p.Controller == nil {
		return Owner{}
	}
	return Workload(*p.Controller, p.Labels)
}
