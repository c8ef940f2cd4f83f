package sim

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// showNode returns a node in one line of a trace.
func showNode(n *v1.Node) string {
	line := fmt.Sprintf("node %s at version %s:", n.UID, n.ResourceVersion)
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if line += " " + t.ToString(); t.TimeAdded != nil {
			line += fmt.Sprintf("@%.0f", t.TimeAdded.Sub(epoch().Add(preface)).Seconds())
		}
	}
	return line
}

// showPod returns a pod in one line of a trace.
func showPod(p *v1.Pod) string {
	return fmt.Sprintf("pod %s on %q at version %s, %s, terminating: %v, tolerates %s", p.UID, p.Spec.NodeName,
		p.ResourceVersion, p.Status.Phase, p.DeletionTimestamp != nil, showTolerations(p.Spec.Tolerations))
}

func showTolerations(list []v1.Toleration) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = fmt.Sprintf("%s %s %s:%s", t.Key, t.Operator, t.Value, t.Effect)
		if t.TolerationSeconds != nil {
			parts[i] += fmt.Sprintf(" %d s", *t.TolerationSeconds)
		}
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

// String returns a write in one line.
func (w *written) String() string {
	line := ""
	if w.gone {
		line = "gone: "
	}
	if w.node != nil {
		return line + showNode(w.node)
	}
	return line + showPod(w.pod)
}
