package foresight

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// shadowedWarnings returns warnings about tolerations without effect, because an earlier one matches the same taint.
func shadowedWarnings(p *taint.Pod, taints []v1.Taint, rules taint.Rules) []string {
	var warnings []string
	for i := range taints {
		t := &taints[i]
		if t.Effect != v1.TaintEffectNoExecute {
			continue
		}
		if longer := taint.Longer(p, t, rules); longer != nil {
			warnings = append(warnings, "only the first toleration that matches "+t.ToString()+" counts ("+
				granted(taint.Matching(p, t, rules))+"); the longer one after it ("+granted(longer)+") is ignored. "+
				"To use it, put it first in the pod template's tolerations")
		}
	}
	return warnings
}

// displacedWarnings returns warnings about tolerations of an outage that match none of these taints but keep the API
// server from adding its default. A toleration of a running pod can't be changed or removed, but others may be put
// before it.
func displacedWarnings(p *taint.Pod, taints []v1.Taint, rules taint.Rules) (warnings []string) {
	for i := range taints {
		t := &taints[i]
		if t.Effect != v1.TaintEffectNoExecute || !isManaged(*t) {
			continue
		}
		if displaces := taint.Displacing(p, t.Key, rules); displaces != nil {
			warnings = append(warnings, "toleration "+taint.TolerationString(displaces)+" does not match "+t.ToString()+
				", and keeps Kubernetes from adding its default of 5m: with this taint the pod is evicted at once; a "+
				"toleration with tolerationSeconds may be put before it")
		}
	}
	return warnings
}

// outage returns the NoExecute taints that Kubernetes sets during an outage of a node.
func outage() []v1.Taint {
	return []v1.Taint{
		{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoExecute},
		{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoExecute},
	}
}

// granted formats a toleration, in quotes, with its seconds.
func granted(t *v1.Toleration) string {
	if t.TolerationSeconds == nil {
		return `"` + unquoted(t) + `", no time limit`
	}
	return `"` + withSeconds(unquoted(t), t.TolerationSeconds) + `"`
}

// withSeconds adds its seconds to a toleration as "kubectl describe pod" does; nil adds none.
func withSeconds(toleration string, seconds *int64) string {
	if seconds == nil {
		return toleration
	}
	return fmt.Sprintf("%s for %ds", toleration, *seconds)
}
