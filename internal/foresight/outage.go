package foresight

import (
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// noteSpared notes that a node has an outage by its NoSchedule taints alone, so that a countdown may begin, again.
func noteSpared(r *Remarks, n *node) {
	if n == nil || !taint.OutageIn(n.Taints, v1.TaintEffectNoSchedule) ||
		taint.OutageIn(n.Taints, v1.TaintEffectNoExecute) {
		return
	}
	r.note("node %s has not-ready or unreachable with the effect NoSchedule alone: kube-controller-manager has not set "+
		"the NoExecute taint yet, or has lifted it, as it does when it starts, changes its leader, or every zone is "+
		"disrupted; countdowns begin when it sets that taint", n.Name)
}
