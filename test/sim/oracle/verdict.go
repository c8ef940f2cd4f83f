package oracle

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
)

// verdict is the verdict that a process must reach for a pod, by what it was shown.
type verdict struct {
	evict  bool
	lo, hi time.Duration // bounds of the deadline
	cause  string
}

// evaluate applies docs/semantics.md to what the process was shown.
func (p *Process) evaluate(s *podView) verdict {
	k := p.node(s.pod.Spec.NodeName)
	switch {
	case s.pod.DeletionTimestamp != nil:
		return verdict{cause: "it is being deleted"}
	case mirrors(s.pod):
		return verdict{cause: "it mirrors a static pod"}
	case k == nil:
		return verdict{cause: "its node is not known"}
	}
	v := verdict{lo: far, hi: far, cause: "no taint, or all tolerated"}
	for _, l := range k.lives {
		for _, st := range l.now() {
			tolerated, forever := tolerates(s.pod.Spec.Tolerations, st.key, st.value)
			if forever {
				continue
			}
			lo, hi := l.exposure(p.oracle.pod(s.pod.UID), s.pod.Spec.Tolerations)
			lo, hi = later(max(lo, s.boundLo), tolerated), later(max(hi, s.bound), tolerated)
			if lo < v.lo || !v.evict {
				v.cause = fmt.Sprintf("taint %s=%s, borne for %v", st.key, st.value, tolerated)
			}
			v.evict, v.lo, v.hi = true, min(v.lo, lo), min(v.hi, hi) // the earlier deadline counts
		}
	}
	return v
}

func mirrors(pod *v1.Pod) bool { return pod.Annotations[v1.MirrorPodAnnotationKey] != "" }
