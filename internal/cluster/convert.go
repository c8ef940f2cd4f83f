package cluster

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// PodOf returns the pod as a taint.Pod that counts as bound from the given moment on. It shares the lists and maps of
// p. For a pod read from a dump or from a list, bound is [BoundSince].
func PodOf(p *v1.Pod, bound time.Time) taint.Pod {
	_, mirror := p.Annotations[v1.MirrorPodAnnotationKey]
	pod := taint.Pod{
		UID:         p.UID,
		Namespace:   p.Namespace,
		Name:        p.Name,
		Node:        p.Spec.NodeName,
		Bound:       bound,
		Tolerations: p.Spec.Tolerations,
		Labels:      p.Labels,
		Phase:       p.Status.Phase,
		Generation:  p.Generation,
		Terminating: p.DeletionTimestamp != nil,
		Mirror:      mirror,
		Disrupted:   TrueCondition(p, v1.DisruptionTarget) != nil,
		Ready:       TrueCondition(p, v1.PodReady) != nil,

		GracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds,
	}
	if p.Spec.Priority != nil {
		pod.Priority = *p.Spec.Priority
	}
	if controller := metav1.GetControllerOfNoCopy(p); controller != nil {
		group := controller.APIVersion[:max(0, strings.LastIndexByte(controller.APIVersion, '/'))]
		pod.Controller = &taint.Owner{Kind: controller.Kind, Group: group, Name: controller.Name}
		pod.Daemon = controller.Kind == "DaemonSet" && group == "apps"
	}
	return pod
}

// BoundSince returns the moment from which a pod that was bound before this process started counts as bound: when it
// was scheduled, or created if that is unknown. If a time is missing or lies in the future, the result is now.
func BoundSince(p *v1.Pod, now skew.Instant) time.Time { return now.Timestamp(Bound(p)) }

// Bound returns when a pod was scheduled or, if that is unknown, created, in whole seconds; zero if the API has neither
// time.
func Bound(p *v1.Pod) time.Time {
	if scheduled := TrueCondition(p, v1.PodScheduled); scheduled != nil && !scheduled.LastTransitionTime.IsZero() {
		return scheduled.LastTransitionTime.Time
	}
	return p.CreationTimestamp.Time
}

// NotReadySince returns when the node's condition Ready stopped being True; zero if it is True, or if that is unknown.
func NotReadySince(n *v1.Node) time.Time {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == v1.NodeReady && c.Status != v1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// Keeps reports whether a finalizer keeps a pod that has finished. The Job controller soon removes its own.
func Keeps(finalizer string) bool { return finalizer != batchv1.JobTrackingFinalizer }

// TrueCondition returns the pod's condition of this type if it is True, otherwise nil.
func TrueCondition(p *v1.Pod, condition v1.PodConditionType) *v1.PodCondition {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type == condition && c.Status == v1.ConditionTrue {
			return c
		}
	}
	return nil
}
