package differential

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// moment is one pod just before and just after a change, or when it was listed.
type moment struct {
	at     time.Duration
	listed bool
	before view
	after  view
}

func (m moment) podName() string {
	if m.after.pod != nil {
		return m.after.pod.Name
	}
	return m.before.pod.Name
}

// view is the state at one moment that the verdict on a pod depends on. It is empty without a pod.
type view struct {
	pod     *v1.Pod
	node    *nodeSeen // nil if it is not known
	claims  []claim
	seconds []int64 // of the tolerations in use, even if past the year 9999
}

// claim is one taint of the node that the pod does not tolerate without a limit.
type claim struct {
	taint    v1.Taint
	start    time.Duration // of the exposure
	deadline time.Duration
}

func (m *model) view(name string) view {
	p := m.pods[name]
	if p == nil {
		return view{}
	}
	v := view{pod: p.Pod}
	if n := m.nodes[p.Spec.NodeName]; n != nil {
		v.node = &nodeSeen{n.uid, n.looks} // its present state: observations are added later
	}
	for _, t := range v.taints() {
		tol := m.used(p.Pod, t)
		if !forEver(tol) {
			v.claims = append(v.claims, m.claim(p, t, tol))
		}
		if tol != nil && tol.TolerationSeconds != nil {
			v.seconds = append(v.seconds, *tol.TolerationSeconds)
		}
	}
	return v
}

func (m *model) claim(p *podSeen, t v1.Taint, tol *v1.Toleration) claim {
	c := claim{taint: t, start: max(p.bound, m.exposed(p.Pod, life(t)))}
	c.deadline = c.start
	if tol != nil {
		// More seconds than any history lasts are equivalent to these.
		c.deadline += time.Duration(min(max(*tol.TolerationSeconds, 0), 1e6)) * time.Second
	}
	return c
}

// exposed returns since when, without a break, the pod's node has had the taint in a state that the pod does not
// tolerate without a limit.
func (m *model) exposed(p *v1.Pod, of string) (since time.Duration) {
	for _, l := range slices.Backward(m.nodes[p.Spec.NodeName].looks) {
		if !slices.ContainsFunc(l.taints, func(t v1.Taint) bool { return life(t) == of && !forEver(m.used(p, t)) }) {
			break
		}
		since = l.at
	}
	return since
}

func (v view) uid() types.UID {
	if v.pod == nil {
		return ""
	}
	return v.pod.UID
}

// taints returns the present taints of the pod's node.
func (v view) taints() []v1.Taint {
	if v.node == nil || len(v.node.looks) == 0 {
		return nil
	}
	return v.node.looks[len(v.node.looks)-1].taints
}

// runs reports whether there is a countdown, even if the pod is never evicted.
func (v view) runs() bool { return len(v.claims) > 0 }

// first returns the claim with the earliest deadline; there must be one.
func (v view) first() claim {
	return slices.MinFunc(v.claims, func(a, b claim) int { return cmp.Compare(a.deadline, b.deadline) })
}

// deadline returns when the countdown ends, or 0 if there is none.
func (v view) deadline() time.Duration {
	if !v.runs() {
		return 0
	}
	return v.first().deadline
}

// spared reports whether the pod is one of those that are never evicted.
func (v view) spared() bool { return v.finished() || v.terminating() || v.mirror() }

func (v view) finished() bool {
	return v.pod.Status.Phase == v1.PodSucceeded || v.pod.Status.Phase == v1.PodFailed
}

func (v view) terminating() bool { return v.pod.DeletionTimestamp != nil }

func (v view) mirror() bool { return v.pod.Annotations[v1.MirrorPodAnnotationKey] != "" }

// has reports whether the node has the taint, in any state.
func (v view) has(t v1.Taint) bool {
	return slices.ContainsFunc(v.taints(), func(other v1.Taint) bool { return life(other) == life(t) })
}

// hasOtherwise reports whether the node has the taint, but with another value or its twin's key.
func (v view) hasOtherwise(t v1.Taint) bool {
	return v.has(t) && !slices.ContainsFunc(v.taints(), func(other v1.Taint) bool {
		return other.Key == t.Key && other.Value == t.Value
	})
}
