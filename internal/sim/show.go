package sim

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// show is a list of tolerations in a few signs.
func show(tolerations []v1.Toleration) string {
	parts := make([]string, len(tolerations))
	for i, t := range tolerations {
		parts[i] = fmt.Sprintf("%s %s %s", t.Key, t.Operator, t.Value)
		if t.Effect != "" {
			parts[i] += ":" + string(t.Effect)
		}
		if t.TolerationSeconds != nil {
			parts[i] += fmt.Sprintf(" %d s", *t.TolerationSeconds)
		}
	}
	return "bears [" + strings.Join(parts, "; ") + "]"
}

// showTaints are a node's taints with their timeAdded.
func showTaints(n *v1.Node) string {
	parts := make([]string, len(n.Spec.Taints))
	for i, t := range n.Spec.Taints {
		parts[i] = t.ToString()
		if t.TimeAdded != nil {
			parts[i] += fmt.Sprintf("@%.0f", t.TimeAdded.Sub(epoch().Add(preface)).Seconds())
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func showGoing(p *v1.Pod) string {
	if p.DeletionTimestamp != nil {
		return " (terminating)"
	}
	return ""
}

func showWritten(w *written) string {
	switch {
	case w.node != nil && w.gone:
		return fmt.Sprintf("node %s is gone, version %d", w.node.UID, w.version)
	case w.node != nil:
		return fmt.Sprintf("node %s at version %d: %s", w.node.UID, w.version, showTaints(w.node))
	case w.gone:
		return fmt.Sprintf("pod %s is gone, version %d", w.pod.UID, w.version)
	}
	return fmt.Sprintf("pod %s on %q, %s%s, at version %d: %s", w.pod.UID, w.pod.Spec.NodeName, w.pod.Status.Phase, showGoing(w.pod), w.version, show(w.pod.Spec.Tolerations))
}
