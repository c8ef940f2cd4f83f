package cluster

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// kept says whether a pod is kept at all: it is bound to a node and has not finished.
func kept(p *taint.Pod) bool {
	return p.Node != "" && p.Phase != v1.PodSucceeded && p.Phase != v1.PodFailed
}

// worthJudging says whether a change of a pod may change its verdict, or which policy holds for it.
func worthJudging(old, now *taint.Pod) bool {
	return old.UID != now.UID ||
		!sameExposure(old, now) ||
		old.Terminating != now.Terminating ||
		old.Mirror != now.Mirror ||
		!maps.Equal(old.Labels, now.Labels)
}

// sameExposure says whether a pod is exposed to the same taints as before, and bears the same.
func sameExposure(old, now *taint.Pod) bool {
	return old.Node == now.Node && sameTolerations(old.Tolerations, now.Tolerations)
}

// worthKeeping says whether a change of a pod is to be seen by readers, be it told or not.
func worthKeeping(old, now *taint.Pod) bool {
	return old.Phase != now.Phase ||
		old.Priority != now.Priority ||
		old.Generation != now.Generation ||
		old.Disrupted != now.Disrupted ||
		!sameController(old, now) ||
		worthJudging(old, now)
}

// sameTolerations says whether two lists hold the same in the same order, which counts.
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
