package policy

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/taint"
)

// critical is the lowest priority that Kubernetes calls system-critical.
const critical = 2_000_000_000

// toleration returns the pod's toleration that counts for the taint; nil if none matches. A taint of effect NoSchedule
// is first matched as if its effect were NoExecute. If no toleration matches it in this way, a toleration that matches
// the taint itself counts.
func (p *pair) toleration() *v1.Toleration {
	asNoExecute := v1.Taint{Key: p.taint.Key, Value: p.taint.Value, Effect: v1.TaintEffectNoExecute}
	t := taint.Matching(p.pod, &asNoExecute, p.set.config.Rules)
	if t != nil || p.taint.Effect == v1.TaintEffectNoExecute {
		return t
	}
	return taint.Matching(p.pod, p.taint, p.set.config.Rules)
}

// timed reports whether the toleration has a limit. The tolerationSeconds of a toleration for NoSchedule do not count.
func timed(t *v1.Toleration) bool {
	return t.TolerationSeconds != nil && t.Effect != v1.TaintEffectNoSchedule
}

// deadline returns the time until which the policy lets the pod stay with a taint, if the exposure began at start. own
// is the pod's toleration that counts for the taint. deadline returns false if the pod may stay forever.
func (c *compiled) deadline(pod *taint.Pod, own *v1.Toleration, start time.Time) (time.Time, bool) {
	var at time.Time
	switch {
	case own == nil:
		at = start.Add(ptr.Deref(c.stay.Absent, metav1.Duration{}).Duration)
	case timed(own) && !taint.Forever(*own.TolerationSeconds, start):
		at = c.bounded(start, taint.AddSeconds(start, max(0, *own.TolerationSeconds)))
	case timed(own) && c.stay.Max != nil:
		at = start.Add(c.stay.Max.Duration)
	case c.stay.Unlimited == nil || c.Match.exempts(pod):
		return time.Time{}, false
	default:
		at = start.Add(c.stay.Unlimited.Duration)
	}
	return at, !taint.Forever(0, at)
}

// bounded returns the deadline of a limited toleration, kept between tolerations.min and tolerations.max after start.
func (c *compiled) bounded(start, at time.Time) time.Time {
	if c.stay.Min != nil {
		at = later(at, start.Add(c.stay.Min.Duration))
	}
	if c.stay.Max != nil && at.After(start.Add(c.stay.Max.Duration)) {
		return start.Add(c.stay.Max.Duration)
	}
	return at
}

// exempts reports whether tolerations.unlimited does not apply to the pod.
func (m *Match) exempts(pod *taint.Pod) bool {
	return ownerOf(pod).Kind == daemonSet && len(m.OwnerKinds) == 0 ||
		pod.Priority >= critical && !m.namesCritical()
}

// namesCritical reports whether the match's minimum or maximum priority is system-critical: such a policy includes
// critical pods on purpose.
func (m *Match) namesCritical() bool {
	p := m.Priority
	return p != nil && (p.Min != nil && *p.Min >= critical || p.Max != nil && *p.Max >= critical)
}
