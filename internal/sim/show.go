package sim

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// These types print themselves in a trace, where they are not nil.
type (
	shownTolerations []v1.Toleration
	shownNode        v1.Node
	shownPod         v1.Pod
)

// String returns a list of tolerations in short.
func (s shownTolerations) String() string {
	parts := make([]string, len(s))
	for i, t := range s {
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

// String returns a node with its version, and its taints with their timeAdded.
func (s *shownNode) String() string {
	parts := make([]string, len(s.Spec.Taints))
	for i, t := range s.Spec.Taints {
		parts[i] = t.ToString()
		if t.TimeAdded != nil {
			parts[i] += fmt.Sprintf("@%.0f", t.TimeAdded.Sub(epoch().Add(preface)).Seconds())
		}
	}
	return fmt.Sprintf("node %s at version %s: [%s]", s.UID, s.ResourceVersion, strings.Join(parts, ", "))
}

// String returns a pod with the fields on which a verdict depends.
func (s *shownPod) String() string {
	going := ""
	if s.DeletionTimestamp != nil {
		going = ", terminating"
	}
	return fmt.Sprintf("pod %s on %q at version %s, %s%s, %v", s.UID, s.Spec.NodeName, s.ResourceVersion,
		s.Status.Phase, going, shownTolerations(s.Spec.Tolerations))
}

// String returns a write in one line.
func (w *written) String() string {
	gone := ""
	if w.gone {
		gone = "gone: "
	}
	if w.node != nil {
		return gone + (*shownNode)(w.node).String()
	}
	return gone + (*shownPod)(w.pod).String()
}
