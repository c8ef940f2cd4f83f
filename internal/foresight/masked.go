package foresight

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// leaveOutMasked leaves out the pods about which a value could decide that a redactor has masked.
func (m *Model) leaveOutMasked() {
	for key, p := range m.pods {
		if n := m.nodes[p.Node]; n != nil && m.masks(n, p, n.Taints) {
			m.masked = append(m.masked, p)
			delete(m.pods, key)
		}
	}
	m.reading.Missing = append(m.reading.Missing, maskedPods(len(m.masked))...)
}

// maskedPods returns a clause about this number of pods; none about no pod.
func maskedPods(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{having(n, "pod") + " a masked value that decides, in a taint, a toleration or a label, so the " +
		"answer for these pods is unknown"}
}

// masks reports whether a mask hides which policy decides about the pod, or whether the pod tolerates one of these
// taints of its node that may evict.
func (m *Model) masks(n *node, p *pod, taints []v1.Taint) bool {
	masked, needs := m.reading.Masked, &m.rules.needs
	if masked == nil || taint.NeverEvicted(&p.Pod) != 0 {
		return false
	}
	labelMasked := slices.ContainsFunc(needs.PodLabels, func(key string) bool { return masked(p.Labels[key]) })
	for _, value := range n.Labels {
		labelMasked = labelMasked || needs.NodeLabels && masked(value)
	}
	for i := range taints {
		t := &taints[i]
		hidden := labelMasked || hides(masked, m.judged(t), p.Tolerations) || hides(masked, t, p.Tolerations)
		if hidden && m.rules.concerns(t) {
			return true
		}
	}
	return false
}

// doubtBudgets notes the budgets that select by labels that are masked: they may cover any pod that has such a label.
func (m *Model) doubtBudgets() {
	if m.reading.Masked == nil || m.reading.BudgetsUnknown != "" {
		return
	}
	type label struct{ namespace, key string }
	selecting := map[label][]string{} // the names of the budgets that compare the label's value
	for name, b := range m.budgets {
		needs, _ := b.selector.Requirements()
		for _, r := range needs {
			if key := (label{b.Namespace, r.Key()}); r.Values().Len() > 0 {
				selecting[key] = append(selecting[key], name)
			}
		}
	}
	var names []string
	for _, p := range m.pods {
		for key, value := range p.Labels {
			if by := (label{p.Namespace, key}); len(selecting[by]) > 0 && m.reading.Masked(value) {
				names = append(names, selecting[by]...)
				delete(selecting, by)
			}
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		m.reading.BudgetsUnknown = fmt.Sprintf("PodDisruptionBudgets of %s select by labels that are masked (%s)",
			m.reading.From, ShortList(slices.Compact(names)))
	}
}

// hides reports whether a mask hides which toleration is the first that matches.
func hides(masked func(string) bool, t *v1.Taint, tolerations []v1.Toleration) bool {
	for i := range tolerations {
		switch o := &tolerations[i]; {
		case o.Effect != "" && o.Effect != t.Effect:
		case o.Key == "":
			return false
		case masked(o.Key) || masked(t.Key):
			return true
		case o.Key != t.Key:
		case o.Operator == v1.TolerationOpExists:
			return false
		case masked(o.Value) || masked(t.Value):
			return true
		case o.Value == t.Value:
			return false
		}
	}
	return false
}
