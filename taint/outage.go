package taint

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// ReportsOutage reports whether a taint of this key reports an outage of its node: Kubernetes sets it while the cause
// lasts, with the effects NoSchedule and NoExecute.
func ReportsOutage(key string) bool {
	return key == v1.TaintNodeNotReady || key == v1.TaintNodeUnreachable
}

// OutageIn reports whether not-ready or unreachable is among the taints, with this effect.
func OutageIn(taints []v1.Taint, effect v1.TaintEffect) bool {
	return slices.ContainsFunc(taints, func(t v1.Taint) bool { return t.Effect == effect && ReportsOutage(t.Key) })
}

// OutageSpared reports whether a NoSchedule taint reports an outage of the node but no NoExecute taint does.
// Then kube-controller-manager has not set the NoExecute taint yet, or has removed it: at its start, at a change of its
// leader, or because every zone is disrupted.
func (n *Node) OutageSpared() bool {
	return n != nil && n.Outage && !slices.ContainsFunc(n.Taints, func(h History) bool {
		return slices.ContainsFunc(h, func(s State) bool { return !s.Ended && ReportsOutage(s.Taint.Key) })
	})
}
