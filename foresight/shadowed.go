package foresight

import (
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// backAgain returns a warning if a pod that tolerates its taint without a limit is evicted by a policy, and nothing
// keeps the scheduler from binding its replacement to the same node.
func (m *Model) backAgain(p *taint.Pod, v *view, verdict *policy.Verdict) []string {
	first := verdict.First()
	if !first.Evict || first.Toleration == nil || first.Toleration.TolerationSeconds != nil {
		return nil
	}
	for i := range v.taints {
		if t := &v.taints[i]; t.Effect != v1.TaintEffectPreferNoSchedule && taint.Matching(p, t, m.rules.tolerations()) == nil {
			return nil
		}
	}
	return []string{"it tolerates " + first.Taint.ToString() + ", and every other taint of its node that keeps pods away, so its replacement may be bound to the same node; " +
		"set a taint of effect NoSchedule that it does not tolerate"}
}
