package foresight

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/cluster"
	"github.com/taint-manager/taint-manager/taint"
)

// Owner is the controller of a pod, which would replace it.
type Owner struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// String returns the owner as kubectl writes it, but with the kind unchanged: "Deployment/web"; "" if there is none.
func (o *Owner) String() string {
	if o == nil {
		return ""
	}
	return o.Kind + "/" + o.Name
}

// pod has the fields of a pod that are kept. Its Bound is zero until Begin.
type pod struct {
	taint.Pod
	owner   Owner // empty if there is none
	ready   bool
	version string    // resourceVersion
	bind    time.Time // when the pod was bound by the API; zero if unknown

	// Only few pods have these.
	ends       *time.Time // when the grace period of a pod that is being deleted ends
	finalizers []string   // of a pod that is being deleted
	disruption *Disruption
}

func podOf(p *v1.Pod) pod {
	kept := pod{
		Pod: cluster.PodOf(p, time.Time{}), owner: ownerOf(p), ready: ready(p), version: p.ResourceVersion,
		bind: bindTime(p), disruption: disruption(p),
	}
	if p.DeletionTimestamp != nil {
		kept.ends, kept.finalizers = utc(p.DeletionTimestamp.Time), p.Finalizers
	}
	return kept
}

// bindTime returns when a pod was bound by the API, in whole seconds, or else when it was created; zero if the API
// does not have these times.
func bindTime(p *v1.Pod) time.Time {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	return p.CreationTimestamp.Time
}

// boundBefore returns the time from which a pod counts as bound that was bound at the first observation.
func (p *pod) boundBefore(observed time.Time) time.Time {
	return cluster.BoundSince(&v1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Time{Time: p.bind}}},
		observed)
}

// ownerOrNil returns the pod's owner, or nil.
func (p *pod) ownerOrNil() *Owner {
	if p.owner == (Owner{}) {
		return nil
	}
	return &p.owner
}

// replica reports whether a pod counts as one of its owner's: it has not finished and is not being deleted.
func (p *pod) replica() bool {
	return p.Phase != v1.PodSucceeded && p.Phase != v1.PodFailed && !p.Terminating
}

// ownerOf returns the pod's workload; empty if the pod has no controller.
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
