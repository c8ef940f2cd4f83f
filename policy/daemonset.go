package policy

import "github.com/taint-manager/taint-manager/taint"

// DeletedByDaemonSet returns when and why the DaemonSet controller deletes the pod from its node, whatever the judge
// decides; see [taint.DeletedByDaemonSet].
func (j Judge) DeletedByDaemonSet(pod *taint.Pod, node *taint.Node) taint.Verdict {
	return taint.DeletedByDaemonSet(pod, node, j.set().config.Rules)
}
