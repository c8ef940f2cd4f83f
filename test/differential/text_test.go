package differential

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// String describes the history: the initial state, then a line for each change.
func (h *history) String() string {
	var b strings.Builder
	for _, n := range h.nodes {
		fmt.Fprintf(&b, "%9s listed   %s\n", "0s", nodeText(n))
	}
	for _, p := range h.pods {
		fmt.Fprintf(&b, "%9s listed   %s\n", "0s", podText(p))
	}
	for _, c := range h.changes {
		text := ""
		if c.node != nil {
			text = nodeText(c.node)
		} else {
			text = podText(c.pod)
		}
		fmt.Fprintf(&b, "%9s %-8s %s\n", c.at, c.verb, text)
	}
	fmt.Fprintf(&b, "%9s end\n", h.end)
	return b.String()
}

func nodeText(n *v1.Node) string {
	words := []string{"node", n.Name, string(n.UID), "born " + apiTime(n.CreationTimestamp)}
	for _, t := range n.Spec.Taints {
		word := t.ToString()
		if t.TimeAdded != nil {
			word += "(added " + apiTime(*t.TimeAdded) + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func podText(p *v1.Pod) string {
	where := "on " + cmp.Or(p.Spec.NodeName, "no node")
	words := []string{"pod", p.Name, string(p.UID), where, string(p.Status.Phase), "born " + apiTime(p.CreationTimestamp)}
	for _, c := range p.Status.Conditions {
		words = append(words, string(c.Type)+" "+apiTime(c.LastTransitionTime))
	}
	if p.DeletionTimestamp != nil {
		words = append(words, "terminating")
	}
	if len(p.Annotations) > 0 {
		words = append(words, "mirror")
	}
	words = append(words, "bears")
	for _, t := range p.Spec.Tolerations {
		words = append(words, tolerationText(t))
	}
	return strings.Join(words, " ")
}

func tolerationText(t v1.Toleration) string {
	text := "[" + strings.Join(strings.Fields(t.Key+" "+string(cmp.Or(t.Operator, v1.TolerationOpEqual))+" "+t.Value), " ")
	if t.Effect != v1.TaintEffectNoExecute {
		text += " for " + cmp.Or(string(t.Effect), "any effect")
	}
	if t.TolerationSeconds != nil {
		text += fmt.Sprintf(" %d s", *t.TolerationSeconds)
	}
	return text + "]"
}

// apiTime formats an API time relative to the beginning of a history.
func apiTime(t metav1.Time) string { return t.Sub(begin).Round(time.Millisecond).String() }
