package oracle

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// verdict is the verdict that a process must reach for a pod, by what it was shown.
type verdict struct {
	evict  bool
	lo, hi time.Duration // bounds of the deadline
	cause  string
}

func stays(cause string) verdict { return verdict{cause: cause} }

// evaluate applies docs/semantics.md to what the process was shown.
func (p *Process) evaluate(s *podView) verdict {
	if s.pod.DeletionTimestamp != nil {
		return stays("it is being deleted")
	}
	if s.pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
		return stays("it mirrors a static pod")
	}
	k := p.node(s.pod.Spec.NodeName)
	if k == nil {
		return stays("its node is not known")
	}
	v := stays("no taint, or all tolerated")
	for _, l := range k.lives {
		for i := range l.states {
			v = v.or(p.evaluateState(s, l, &l.states[i]))
		}
	}
	return v
}

// evaluateState returns the verdict because of one state of a taint.
func (p *Process) evaluateState(s *podView, l *life, st *state) verdict {
	tolerated, forever := tolerates(s.pod.Spec.Tolerations, st.key, st.value)
	if forever || st.to != standing {
		return verdict{}
	}
	lo, hi := l.exposure(s.pod.Spec.Tolerations)
	if l.total > kept && p.oracle.pod(s.pod.UID).edited {
		// docs/adr/0003-joining-states.md: states that were joined before the edit was known count as one
		lo = l.earliest()
		if l.recorded > 0 {
			hi = l.latest() // a record that has the first of two joined states replaces both
		}
	}
	return verdict{
		evict: true,
		lo:    later(max(lo, s.boundLo), tolerated),
		hi:    later(max(hi, s.bound), tolerated),
		cause: fmt.Sprintf("taint %s=%s, borne for %v", st.key, st.value, tolerated),
	}
}

// or merges two verdicts: the earlier deadline counts.
func (v verdict) or(other verdict) verdict {
	switch {
	case !other.evict:
		return v
	case !v.evict:
		return other
	}
	if other.lo < v.lo {
		v.cause = other.cause
	}
	v.lo, v.hi = min(v.lo, other.lo), min(v.hi, other.hi)
	return v
}

func sameTolerations(a, b *v1.Pod) bool {
	return slices.EqualFunc(a.Spec.Tolerations, b.Spec.Tolerations, func(a, b v1.Toleration) bool {
		return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect &&
			same(a.TolerationSeconds, b.TolerationSeconds)
	})
}
