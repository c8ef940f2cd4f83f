package sim

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// shown prints a node, a pod, or tolerations in short, for a trace.
type shown struct{ object any }

// String returns the object in one line.
func (s shown) String() string {
	switch o := s.object.(type) {
	case *v1.Node:
		parts := make([]string, len(o.Spec.Taints))
		for i, t := range o.Spec.Taints {
			parts[i] = t.ToString()
			if t.TimeAdded != nil {
				parts[i] += fmt.Sprintf("@%.0f", t.TimeAdded.Sub(epoch().Add(preface)).Seconds())
			}
		}
		return fmt.Sprintf("node %s at version %s: [%s]", o.UID, o.ResourceVersion, strings.Join(parts, ", "))
	case *v1.Pod:
		return fmt.Sprintf("pod %s on %q at version %s, %s, terminating: %v, %v", o.UID, o.Spec.NodeName,
			o.ResourceVersion, o.Status.Phase, o.DeletionTimestamp != nil, shown{o.Spec.Tolerations})
	case []v1.Toleration:
		parts := make([]string, len(o))
		for i, t := range o {
			parts[i] = fmt.Sprintf("%s %s %s:%s", t.Key, t.Operator, t.Value, t.Effect)
			if t.TolerationSeconds != nil {
				parts[i] += fmt.Sprintf(" %d s", *t.TolerationSeconds)
			}
		}
		return "tolerates [" + strings.Join(parts, "; ") + "]"
	}
	return fmt.Sprint(s.object)
}

// String returns a write in one line.
func (w *written) String() string {
	gone := ""
	if w.gone {
		gone = "gone: "
	}
	if w.node != nil {
		return gone + shown{w.node}.String()
	}
	return gone + shown{w.pod}.String()
}
