package oracle

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// finished reports whether a pod has ended by itself.
func finished(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

// verdict is the verdict that a process must reach for a pod, by what it was shown.
type verdict struct {
	evict bool
	span  // bounds of the deadline
	cause string
}

// evaluate applies docs/semantics.md to what the process was shown.
func (p *Process) evaluate(s *podView) verdict {
	k := p.node(s.pod.Spec.NodeName)
	switch {
	case finished(s.pod):
		return verdict{cause: "it has finished"}
	case s.pod.DeletionTimestamp != nil:
		return verdict{cause: "it is being deleted"}
	case mirrors(s.pod):
		return verdict{cause: "it mirrors a static pod"}
	case k == nil:
		return verdict{cause: "its node is not known"}
	}
	v := verdict{cause: "no taint, or all tolerated"}
	for _, l := range k.lives {
		for i := range l.states {
			next := p.evaluateState(s, l, &l.states[i])
			switch {
			case next.evict && !v.evict:
				v = next
			case next.evict: // the earlier deadline counts
				if next.lo < v.lo {
					v.cause = next.cause
				}
				v.span = span{min(v.lo, next.lo), min(v.hi, next.hi)}
			}
		}
	}
	return v
}

func mirrors(pod *v1.Pod) bool { return pod.Annotations[v1.MirrorPodAnnotationKey] != "" }

// evaluateState returns the verdict because of one state of a taint.
func (p *Process) evaluateState(s *podView, l *life, st *state) verdict {
	tolerated, forever := tolerates(s.pod.Spec.Tolerations, st.key, st.value)
	if forever || st.to != standing {
		return verdict{}
	}
	start := l.exposure(s.pod.Spec.Tolerations)
	if l.total > kept && p.oracle.pod(s.pod.UID).edited {
		// docs/adr/0003-joining-states.md: states that were joined before the edit was known count as one
		start.lo = l.starts().lo
		if l.recorded > 0 {
			start.hi = l.starts().hi // a record that has the first of two joined states replaces both
		}
	}
	return verdict{
		evict: true,
		span:  span{max(start.lo, s.bound.lo), max(start.hi, s.bound.hi)}.plus(span{tolerated, tolerated}),
		cause: fmt.Sprintf("taint %s=%s, borne for %v", st.key, st.value, tolerated),
	}
}
