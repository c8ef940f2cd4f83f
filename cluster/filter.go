package cluster

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// kept reports whether a pod is kept: it is bound to a node and has not finished.
func kept(p *taint.Pod) bool {
	return p.Node != "" && p.Phase != v1.PodSucceeded && p.Phase != v1.PodFailed
}

// worthJudging reports whether a change of a pod may change its verdict, or which policy applies to it.
func worthJudging(old, now *taint.Pod, needs *policy.Needs) bool {
	return old.UID != now.UID ||
		!sameExposure(old, now) ||
		old.Terminating != now.Terminating ||
		old.Mirror != now.Mirror ||
		!maps.Equal(old.Labels, now.Labels) ||
		needs.PodOwners && !sameController(old, now)
}

// sameExposure reports whether a pod is exposed to the same taints as before, and tolerates the same.
func sameExposure(old, now *taint.Pod) bool {
	return old.Node == now.Node && sameTolerations(old.Tolerations, now.Tolerations)
}

// worthKeeping reports whether readers must see a change of a pod, even if the handler is not called for it.
func worthKeeping(old, now *taint.Pod, needs *policy.Needs) bool {
	return old.Phase != now.Phase ||
		old.Priority != now.Priority ||
		old.Generation != now.Generation ||
		old.Disrupted != now.Disrupted ||
		!sameController(old, now) ||
		!sameSeconds(old.GracePeriodSeconds, now.GracePeriodSeconds) ||
		worthJudging(old, now, needs)
}

// sameTolerations reports whether two lists have the same tolerations in the same order, which matters.
func sameTolerations(a, b []v1.Toleration) bool {
	return slices.EqualFunc(a, b, func(a, b v1.Toleration) bool {
		return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value &&
			a.Effect == b.Effect && sameSeconds(a.TolerationSeconds, b.TolerationSeconds)
	})
}

func sameSeconds(a, b *int64) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameController reports whether a pod has the same controller as before.
func sameController(old, now *taint.Pod) bool {
	a, b := old.Controller, now.Controller
	return a == b || a != nil && b != nil && *a == *b
}
