package policy

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Bound describes when a pod to which the policy applies is gone at the latest, counted from the start of the pod's
// countdown: "eviction is requested within 20m of the taint; if it is refused, the pod is deleted within 1h50m of the
// taint and gone within 1h58m of it; ...". Without a bound, it returns the reasons. Bounds include settle times.
func (p *Policy) Bound(guards Guards) string {
	if p.Mode == Audit {
		enforced := *p
		enforced.Mode = Enforce
		return "Audit mode: evicts nothing. If enforced, " + enforced.Bound(guards)
	}
	if reasons := p.unbounded(); len(reasons) > 0 {
		return "pods may stay forever: " + strings.Join(reasons, ", and ")
	}
	asked := max(p.longestStay(), p.settle(guards))
	deleted, words := asked, ""
	if p.Method == Evict {
		words += "eviction is requested within " + taint.Brief(asked) + " of the taint; "
		if p.DeleteAfter == nil {
			return words + "deleteAfter is unset, so PodDisruptionBudgets may block it forever"
		}
		words += "if it is refused, "
		deleted += p.DeleteAfter.Duration
	}
	return words + "the pod is deleted within " + taint.Brief(deleted) + " of the taint" + p.gone(deleted) +
		"; pauses, breakers, rate limits and policies with method Hold may delay it" + p.broken(asked) + p.exceptions()
}

// slowestFailure is the longest time after which failures of a webhook count as a refusal.
const slowestFailure = WebhookFailsFor + WebhookFailsEvery

// broken describes when a pod is deleted if its eviction requests fail in a webhook. It returns nothing if deleteAfter
// is at least the time after which such failures count as a refusal.
func (p *Policy) broken(asked time.Duration) string {
	if p.Method != Evict || p.DeleteAfter.Duration >= slowestFailure {
		return ""
	}
	return "; if a webhook for evictions fails, the pod is deleted within " + taint.Brief(asked+slowestFailure) + " of the taint"
}

// unbounded returns the reasons why no bound exists for the time until an eviction is requested.
func (p *Policy) unbounded() (reasons []string) {
	switch p.Method {
	case Ignore:
		return []string{"method Ignore leaves pods alone"}
	case Hold:
		return []string{"method Hold keeps pods as long as the policy exists"}
	}
	if p.Tolerations == nil || p.Tolerations.Unlimited == nil {
		reasons = append(reasons, "pods that tolerate the taint forever are not evicted (to evict them after some time, set the policy's tolerations.unlimited)")
	}
	if p.Tolerations == nil || p.Tolerations.Max == nil {
		reasons = append(reasons, "tolerationSeconds is not capped (to cap it, set the policy's tolerations.max)")
	}
	return reasons
}

// longestStay returns the longest time for which the policy lets a pod stay.
func (p *Policy) longestStay() time.Duration {
	longest := max(p.Tolerations.Unlimited.Duration, p.Tolerations.Max.Duration)
	if p.Tolerations.Absent != nil {
		longest = max(longest, p.Tolerations.Absent.Duration)
	}
	return longest
}

// settle returns the longest settle time of the breakers that count a taint of the policy.
func (p *Policy) settle(guards Guards) (longest time.Duration) {
	for i := range guards.Breakers {
		if b := &guards.Breakers[i]; slices.ContainsFunc(b.Taints, p.Match.mayName) {
			longest = max(longest, b.SettleTime())
		}
	}
	return longest
}

// mayName reports whether the match may include a taint with that key.
func (m *Match) mayName(key TaintKey) bool {
	return slices.ContainsFunc(m.keys(), func(k KeyPattern) bool { return k.selects(key.Key) })
}

// gone describes when a pod that is deleted at this time has terminated. That depends on the pod's kubelet.
func (p *Policy) gone(deleted time.Duration) string {
	words := " and gone after its terminationGracePeriodSeconds"
	if p.GracePeriod != nil {
		words = " and gone within " + taint.Brief(deleted+p.GracePeriod.Max.Duration) + " of it"
	}
	if p.Match.mayName(TaintKey{v1.TaintNodeUnreachable}) || p.Match.mayName(TaintKey{v1.TaintNodeNotReady}) {
		words += ", if the kubelet responds"
	}
	return words
}

// exceptions names the pods to which tolerations.unlimited does not apply.
func (p *Policy) exceptions() string {
	var of []string
	if len(p.Match.OwnerKinds) == 0 && !p.Match.onlyNoSchedule() {
		of = append(of, "DaemonSet pods")
	}
	if r := p.Match.Priority; !p.Match.namesCritical() && (r == nil || r.Max == nil) {
		of = append(of, "pods with priority 2000000000 or higher")
	}
	if len(of) == 0 {
		return ""
	}
	return "; " + strings.Join(of, " and ") + " stay if they tolerate the taint forever"
}

// onlyNoSchedule reports whether the match names taints of effect NoSchedule only. Such a match does not include pods
// of DaemonSets unless it names DaemonSet as an owner kind.
func (m *Match) onlyNoSchedule() bool {
	return !slices.ContainsFunc(m.taints(), func(t Taint) bool { return t.hasEffect(v1.TaintEffectNoExecute) })
}
