package policy

import "slices"

// kubeletWarnings returns the warning about a policy that keeps pods on nodes with a NoExecute taint: a kubelet that
// starts ends each pod of its node that does not tolerate such a taint (docs/reference/neighbours.md).
func (p *Policy) kubeletWarnings() []string {
	keeps := p.Method == Hold || p.Method == Ignore
	if !keeps || p.Mode == Audit || !slices.ContainsFunc(p.Match.taints(), Taint.mayBeIntolerable) {
		return nil
	}
	return []string{"method " + string(p.Method) + " keeps pods that do not tolerate the taint only until the node's " +
		"kubelet starts again, because the kubelet ends them; a NoSchedule taint as the trigger avoids this"}
}
