package foresight

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/cluster"
	"github.com/taint-manager/taint-manager/taint"
)

// Owner is what would replace a pod: the controller that made it.
type Owner struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// String is the owner as kubectl writes it, but with its kind as it is: "Deployment/web".
func (o Owner) String() string { return o.Kind + "/" + o.Name }

// pod is what is kept of a pod.
type pod struct {
	taint.Pod
	owner Owner // empty: nobody's
	ready bool
}

func podOf(p *v1.Pod, at time.Time) pod {
	return pod{Pod: cluster.PodOf(p, cluster.BoundSince(p, at)), owner: ownerOf(p), ready: ready(p)}
}

// replica says whether a pod counts as one of its owner's: it has not finished and is not going.
func (p *pod) replica() bool {
	return p.Phase != v1.PodSucceeded && p.Phase != v1.PodFailed && !p.Terminating
}

// ownerOf returns the pod's workload; empty when nobody controls the pod.
func ownerOf(p *v1.Pod) Owner {
	controller := metav1.GetControllerOfNoCopy(p)
	if controller == nil {
		return Owner{}
	}
	return Owner(taint.Workload(taint.Owner{Kind: controller.Kind, Name: controller.Name}, p.Labels))
}

func ready(p *v1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// shadowed are warnings of tolerations that do not count because an earlier one of the list matches the
// same taint.
func shadowed(p *taint.Pod, taints []v1.Taint, rules taint.Rules) []string {
	var warnings []string
	for i := range taints {
		t := &taints[i]
		if t.Effect != v1.TaintEffectNoExecute {
			continue
		}
		if longer := taint.Longer(p, t, rules); longer != nil {
			counts := taint.Matching(p, t, rules)
			warnings = append(warnings, "of the tolerations that match "+t.ToString()+" the first one counts, "+granted(counts)+
				"; a later one, "+granted(longer)+", would have borne it longer if it came first")
		}
	}
	return warnings
}
