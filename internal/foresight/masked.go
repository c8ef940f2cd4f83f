package foresight

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

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
	if m.reading.Masked == nil || m.reading.BudgetsUnknown != "" || len(m.budgets) == 0 {
		return
	}
	type label struct{ namespace, key string }
	masked := map[label]bool{}
	for _, p := range m.pods {
		for key, value := range p.Labels {
			if m.reading.Masked(value) {
				masked[label{p.Namespace, key}] = true
			}
		}
	}
	var names []string
	for _, b := range m.budgetsInOrder() {
		needs, _ := b.selector.Requirements()
		if slices.ContainsFunc(needs, func(r labels.Requirement) bool {
			return r.Values().Len() > 0 && masked[label{b.Namespace, r.Key()}]
		}) {
			names = append(names, b.Namespace+"/"+b.Name)
		}
	}
	if len(names) > 0 {
		m.reading.BudgetsUnknown = fmt.Sprintf("PodDisruptionBudgets of %s select by labels that are masked (%s)",
			m.reading.From, ShortList(names))
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
