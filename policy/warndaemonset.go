package policy

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// daemonSetWarnings returns the warning about the DaemonSet pods that do not tolerate a NoExecute taint: the DaemonSet
// controller deletes them, whatever the policy says. The controller lets all its pods tolerate not-ready and
// unreachable forever.
func (p *Policy) daemonSetWarnings() []string {
	does := "method " + string(p.Method)
	switch {
	case p.Mode == Audit || !p.Match.ownsKind(daemonSet, "apps", v1.TaintEffectNoExecute):
		return nil
	case p.Method != Delete:
	case p.Tolerations == nil || p.Tolerations.Absent == nil || p.Tolerations.Absent.Duration == 0:
		return nil
	default:
		does = "tolerations.absent"
	}
	if !slices.ContainsFunc(p.Match.taints(), Taint.mayBeIntolerable) {
		return nil
	}
	return []string{does + " has no effect on DaemonSet pods that do not tolerate the taint, because the DaemonSet " +
		"controller deletes them"}
}

// mayBeIntolerable reports whether t may select a NoExecute taint that pods do not tolerate unless they say so.
func (t Taint) mayBeIntolerable() bool {
	return t.hasEffect(v1.TaintEffectNoExecute) && !taint.ReportsOutage(t.Key)
}
