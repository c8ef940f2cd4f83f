package policy

import (
	"fmt"
	"time"
)

// Bound says until when a pod that the policy decides has gone after its node got the taint: "asked to go by
// 20m0s, deleted by 1h50m0s, gone by 1h58m0s, without holds", or why there is no such time.
func (p *Policy) Bound() string {
	switch {
	case p.Method == Ignore:
		return "unbounded, because method: Ignore leaves pods alone"
	case p.Method == Hold:
		return "unbounded, because method: Hold makes no call"
	case p.Tolerations == nil || p.Tolerations.Unlimited == nil:
		return "unbounded, because tolerations.unlimited is left out: pods that bear the taint for ever stay"
	case p.Tolerations.Max == nil:
		return "unbounded, because tolerations.max is left out: pods choose their own tolerationSeconds"
	}
	asked := max(p.Tolerations.Unlimited.Duration, p.Tolerations.Max.Duration)
	if p.Tolerations.Absent != nil {
		asked = max(asked, p.Tolerations.Absent.Duration)
	}
	if p.Method == Delete {
		return "deleted by " + p.gone(asked)
	}
	if p.DeleteAfter == nil {
		return fmt.Sprintf("asked to go by %s, then unbounded, because deleteAfter is left out: budgets may block for ever", asked)
	}
	return fmt.Sprintf("asked to go by %s, deleted by %s", asked, p.gone(asked+p.DeleteAfter.Duration))
}

// gone adds when a pod that is deleted has ended.
func (p *Policy) gone(deleted time.Duration) string {
	if p.GracePeriod == nil {
		return fmt.Sprintf("%s, gone within its own grace period, without holds", deleted)
	}
	return fmt.Sprintf("%s, gone by %s, without holds", deleted, deleted+p.GracePeriod.Max.Duration)
}
