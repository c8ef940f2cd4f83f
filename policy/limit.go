package policy

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// critical is the lowest priority that Kubernetes calls system-critical.
const critical = 2_000_000_000

// limit is how long a pod may stay with a taint.
type limit struct {
	forever bool
	seconds int64         // may exceed a time.Duration
	rest    time.Duration // less than a second
}

func limitOf(d time.Duration) limit {
	return limit{seconds: int64(d / time.Second), rest: d % time.Second}
}

func (l limit) compare(other limit) int {
	return cmp.Or(cmp.Compare(l.seconds, other.seconds), cmp.Compare(l.rest, other.rest))
}

// from returns when a limit that begins at start ends. It returns false if it does not end.
func (l limit) from(start time.Time) (time.Time, bool) {
	if l.forever || taint.Forever(l.seconds, start) {
		return time.Time{}, false
	}
	if l == (limit{}) {
		return start, true
	}
	return taint.AddSeconds(start, l.seconds).Add(l.rest), true
}

// toleration is the effect of the pod's own tolerations on a taint.
type toleration struct {
	*v1.Toleration // the one that counts; nil if none matches

	limit limit
	timed bool // it has tolerationSeconds that count
}

// toleration returns how the pod tolerates the taint. For a taint of effect NoSchedule, tolerations count as if the
// effect were NoExecute. Only if none of them matches, one that matches the taint itself counts, without a limit.
func (p *pair) toleration() toleration {
	asNoExecute := v1.Taint{Key: p.taint.Key, Value: p.taint.Value, Effect: v1.TaintEffectNoExecute}
	if t := taint.Matching(p.pod, &asNoExecute, p.set.config.Rules); t != nil {
		since := p.states[len(p.states)-1].Since
		return toleration{t, limitOfToleration(t, since), t.TolerationSeconds != nil}
	}
	if p.taint.Effect == v1.TaintEffectNoExecute {
		return toleration{}
	}
	t := taint.Matching(p.pod, p.taint, p.set.config.Rules)
	return toleration{Toleration: t, limit: limit{forever: t != nil}}
}

func limitOfToleration(t *v1.Toleration, since time.Time) limit {
	if t.TolerationSeconds == nil || taint.Forever(*t.TolerationSeconds, since) {
		return limit{forever: true}
	}
	return limit{seconds: max(0, *t.TolerationSeconds)}
}

// limit returns how long the pod may stay under the policy, given its own tolerations.
func (c *compiled) limit(pod *taint.Pod, own toleration) limit {
	switch {
	case own.Toleration == nil:
		return durationOr(c.stay.Absent, limit{})
	case own.timed && (!own.limit.forever || c.stay.Max != nil):
		return c.bounded(own)
	case c.exempt.of(pod):
		return own.limit
	}
	return durationOr(c.stay.Unlimited, own.limit)
}

// bounded returns the limit of a toleration with a limit, kept between min and max.
func (c *compiled) bounded(t toleration) limit {
	own := limit{seconds: max(0, *t.TolerationSeconds)}
	if least := durationOr(c.stay.Min, own); own.compare(least) < 0 {
		return least
	}
	if most := durationOr(c.stay.Max, own); own.compare(most) > 0 {
		return most
	}
	return own
}

func exemptOf(m *Match) exempt {
	return exempt{
		daemonSets: !slices.Contains(m.OwnerKinds, daemonSet),
		critical:   m.Priority == nil || !reachesCritical(m.Priority),
	}
}

// reachesCritical reports whether a bound of the range is a system-critical priority: then the policy means these
// pods on purpose.
func reachesCritical(p *PriorityRange) bool {
	return p.Min != nil && *p.Min >= critical || p.Max != nil && *p.Max >= critical
}

// of reports whether tolerations.unlimited does not apply to the pod.
func (e exempt) of(pod *taint.Pod) bool {
	return e.daemonSets && ownerKindOf(pod) == daemonSet || e.critical && pod.Priority >= critical
}

func durationOr(d *metav1.Duration, otherwise limit) limit {
	if d == nil {
		return otherwise
	}
	return limitOf(d.Duration)
}
