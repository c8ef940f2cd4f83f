package foresight

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// stuckAfter is how long after its grace period a pod that is being deleted is stuck.
const stuckAfter = 10 * time.Second

// stuck returns a clause that says what to inspect if the pod should be gone by its grace period, or "".
func (m *Model) stuck(p *pod, at time.Time) string {
	if p.ends == nil || at.Sub(*p.ends) <= stuckAfter {
		return ""
	}
	if len(p.finalizers) > 0 {
		return "it has finalizers (" + strings.Join(p.finalizers, ", ") + "): look at the controllers that are " +
			"to remove them"
	}
	n := m.nodes[p.Node]
	if n == nil {
		return "its node is not there: pod garbage collection of kube-controller-manager deletes such pods"
	}
	for _, t := range n.object.Spec.Taints {
		if t.Key == v1.TaintNodeNotReady || t.Key == v1.TaintNodeUnreachable {
			return "the kubelet of its node does not confirm that it has stopped: look at the node; once it is " +
				"certain that the node is shut down, its taint node.kubernetes.io/out-of-service lets the pod go"
		}
	}
	return "the kubelet of its node has not confirmed that it has stopped: look at the kubelet's log and the " +
		"pod's containers"
}
