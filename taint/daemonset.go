package taint

// DaemonSetController is who deletes pods of DaemonSets that do not tolerate a NoExecute taint of their node, and
// DeletesDaemons the clause that says so after [Verdict.Because].
const (
	DaemonSetController = "the DaemonSet controller"
	DeletesDaemons      = "; " + DaemonSetController + " deletes such pods, and asks no policy, guard or budget"
)

// DeletedByDaemonSet returns the verdict by which the DaemonSet controller deletes a pod of its own from a node:
// because of the NoExecute taint that the pod was first exposed to without tolerating it. Evict is false if the
// controller leaves the pod alone. A toleration with seconds counts as tolerating.
//
// The DaemonSet controller asks no policy, budget or rate. It reads the tolerations of the DaemonSet's template, which
// the pod may not have.
func DeletedByDaemonSet(pod *Pod, node *Node, rules Rules) (v Verdict) {
	if !pod.Daemon || node == nil || NeverEvicted(pod) != 0 {
		return v
	}
	for _, history := range node.Taints {
		for i := range history {
			if history[i].Ended || matching(pod.Tolerations, &history[i].Taint, rules) != nil {
				continue
			}
			if not := evaluate(pod, history[:i+1], rules); not.sooner(&v) {
				v = not
			}
		}
	}
	return v
}
