package taint

// DaemonSetController names the controller that deletes a DaemonSet's pods if they do not tolerate a NoExecute taint of
// their node. DeletesDaemons is the clause that says so; it follows [Verdict.Because].
const (
	DaemonSetController = "the DaemonSet controller"
	DeletesDaemons      = "; " + DaemonSetController + " deletes such pods, and asks no policy, guard or budget"
)

// DeletedByDaemonSet returns, in the form of a verdict, when and why the DaemonSet controller deletes the pod from the
// node: of the NoExecute taints that the pod does not tolerate, the one with the earliest exposure counts. Evict is
// false if the controller does not delete the pod. A toleration with seconds counts as tolerating.
//
// The DaemonSet controller obeys no policy, budget or rate. It reads the tolerations in the DaemonSet's template, which
// may differ from those of the pod.
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
