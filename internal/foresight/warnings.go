package foresight

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// shadowed returns warnings of tolerations that have no effect because an earlier one in the list matches the same
// taint.
func shadowed(p *taint.Pod, taints []v1.Taint, rules taint.Rules) []string {
	var warnings []string
	for i := range taints {
		t := &taints[i]
		if t.Effect != v1.TaintEffectNoExecute {
			continue
		}
		if longer := taint.Longer(p, t, rules); longer != nil {
			counts := taint.Matching(p, t, rules)
			warnings = append(warnings, "of the tolerations that match "+t.ToString()+" the first one counts, "+
				granted(counts)+
				"; a later one, "+granted(longer)+", would have tolerated it longer if it came first")
		}
	}
	return warnings
}

// returnsToNode returns a warning if a pod that tolerates its taint without a limit is evicted by a policy, and nothing
// keeps the scheduler from binding its replacement to the same node.
func (m *Model) returnsToNode(p *taint.Pod, v *view, verdict *policy.Verdict) []string {
	first := verdict.First()
	if !first.Evict || first.Toleration == nil || first.Toleration.TolerationSeconds != nil {
		return nil
	}
	for i := range v.taints {
		if t := &v.taints[i]; t.Effect != v1.TaintEffectPreferNoSchedule &&
			taint.Matching(p, t, m.rules.config.Rules) == nil {
			return nil
		}
	}
	return []string{"it tolerates " + first.Taint.ToString() + ", and every other taint of its node that keeps pods " +
		"away, so its replacement may be bound to the same node; " +
		"set a taint of effect NoSchedule that it does not tolerate"}
}

// granted formats a toleration with the time for which it tolerates a taint.
func granted(t *v1.Toleration) string {
	if t.TolerationSeconds == nil {
		return taint.TolerationString(t) + " without a limit"
	}
	return fmt.Sprintf("%s for %d s", taint.TolerationString(t), *t.TolerationSeconds)
}

// unquoted formats a toleration without the quotes that it has within a sentence.
func unquoted(t *v1.Toleration) string {
	if t == nil {
		return ""
	}
	return strings.Trim(taint.TolerationString(t), `"`)
}
