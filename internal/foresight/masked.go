package foresight

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/taint"
)

// maskable names the fields in which a masked value may decide about a pod.
const maskable = "spec.nodeName, a taint, a toleration or a label"

// isMasked reports whether a redactor has masked a value.
func (o *objects) isMasked(value string) bool { return o.masked != nil && o.masked(value) }

// selects reports whether a selector selects these labels, or whether a mask hides that. A mask hides the value of a
// label, never its presence.
func (o *objects) selects(s labels.Selector, these labels.Set) (selected, hidden bool) {
	requirements, selectable := s.Requirements()
	for i := range requirements {
		switch r := &requirements[i]; {
		case o.isMasked(these[r.Key()]) && len(r.ValuesUnsorted()) > 0:
			hidden = true
		case !r.Matches(these):
			return false, false
		}
	}
	return selectable && !hidden, hidden
}

// inFocus reports whether a pod is in the focus, on whatever node, or whether a mask hides that.
func (o *objects) inFocus(p *v1.Pod) (in, hidden bool) {
	in = o.focus.Namespace == "" || o.focus.Namespace == p.Namespace
	if !in || o.focus.Labels == nil {
		return in, false
	}
	return o.selects(o.focus.Labels, p.Labels)
}

// inQuestion reports whether a node is in the selection, or whether a mask hides that.
func (o *objects) inQuestion(s *Selection, n *node) (in, hidden bool) {
	if len(s.Names) > 0 || s.Selector == nil {
		return slices.Contains(s.Names, n.Name), false
	}
	return o.selects(s.Selector, n.Labels)
}

// mayChange reports whether a mask hides whether one of these taints is what the changes set or remove.
func (o *objects) mayChange(changes []Change, taints []v1.Taint) bool {
	return o.masked != nil && slices.ContainsFunc(taints, func(t v1.Taint) bool {
		return slices.ContainsFunc(changes, func(c Change) bool { return c.mayConcern(t, o.masked) })
	})
}

// mayConcern reports whether a mask hides whether the taint is what the change sets or removes.
func (c Change) mayConcern(t v1.Taint, masked func(string) bool) bool {
	if masked(t.Key) {
		t.Key = c.Taint.Key
		return c.concerns(&t)
	}
	return !c.Remove && masked(t.Value) && c.concerns(&t)
}

// leaveOutMasked leaves out the pods about which a masked value may decide.
func (m *Model) leaveOutMasked() {
	for key, p := range m.pods {
		n := m.nodes[p.Node]
		nodeMasked := n == nil && m.isMasked(p.Node) && taint.NeverEvicted(&p.Pod) == 0
		if nodeMasked || n != nil && m.masks(&m.rules, n, p, n.Taints) {
			m.leftOut = append(m.leftOut, p)
			delete(m.pods, key)
		}
	}
	m.reading.Missing = append(m.reading.Missing, masking(len(m.leftOut), "pod", maskable)...)
}

// masking returns a clause about n pods or nodes with masked values in these places; none if n is 0.
func masking(n int, kind, where string) []string {
	if n == 0 {
		return nil
	}
	return []string{having(n, kind) + " a masked value that decides, in " + where + ", so the answer for these " +
		kind + "s is unknown"}
}

// masks reports whether a mask hides whether the pod is in the focus, which policy decides about it, or whether it
// tolerates one of these taints of its node that may evict.
func (m *Model) masks(by *Ruleset, n *node, p *pod, taints []v1.Taint) bool {
	masked, needs := m.masked, &by.needs
	if masked == nil || taint.NeverEvicted(&p.Pod) != 0 {
		return false
	}
	labelMasked := p.hidden
	for _, key := range needs.PodLabels {
		labelMasked = labelMasked || masked(p.Labels[key])
	}
	for _, value := range n.Labels {
		labelMasked = labelMasked || needs.NodeLabels && masked(value)
	}
	for _, value := range m.namespaces[p.Namespace] {
		labelMasked = labelMasked || needs.NamespaceLabels && masked(value)
	}
	for i := range taints {
		t := &taints[i]
		hidden := labelMasked || hides(masked, by.judged(t), p.Tolerations) || hides(masked, t, p.Tolerations)
		if hidden && by.concerns(t) || by.hiddenBehind(masked, t) {
			return true
		}
	}
	return false
}

// hiddenBehind reports whether a mask hides which policy matches a taint that may evict.
func (r *Ruleset) hiddenBehind(masked func(string) bool, t *v1.Taint) bool {
	if masked(t.Key) {
		return t.Effect == v1.TaintEffectNoExecute && len(r.config.Policies) > 0 ||
			t.Effect == v1.TaintEffectNoSchedule && len(r.needs.Triggers)+len(r.needs.Audited) > 0
	}
	return masked(t.Value) && len(r.needs.Values) > 0 && r.concerns(t)
}

// doubtBudgets records the budgets that select by masked values: they may cover any pod, or any that has such a label.
func (m *Model) doubtBudgets() {
	if m.masked == nil || m.reading.BudgetsUnknown != "" {
		return
	}
	type label struct{ namespace, key string }
	selecting := map[label][]string{} // the names of the budgets that compare the label's value
	var names []string
	for name, b := range m.budgets {
		if b.masked {
			names = append(names, name)
		}
		needs, _ := b.selector.Requirements()
		for _, r := range needs {
			if key := (label{b.Namespace, r.Key()}); r.Values().Len() > 0 {
				selecting[key] = append(selecting[key], name)
			}
		}
	}
	for _, p := range m.pods {
		for key, value := range p.Labels {
			if by := (label{p.Namespace, key}); m.isMasked(value) {
				names = append(names, selecting[by]...)
				delete(selecting, by)
			}
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		m.reading.BudgetsUnknown = fmt.Sprintf("PodDisruptionBudgets of %s select by masked values (%s)",
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
