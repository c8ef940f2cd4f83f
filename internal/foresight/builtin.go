package foresight

import (
	"math"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// builtin returns a clause that says how the built-in controller would decide differently about a running pod, as far
// as the present state shows; "" if it would not. ours is the verdict by the rules. docs/reference/differences.md lists
// all differences.
func (ne *nodeEstimate) builtin(p *taint.Pod, ours *policy.Verdict, by *rulesAt) string {
	if taint.NeverEvicted(p) != 0 {
		return ""
	}
	rules := by.ruleset.config.Rules
	v := taint.Decide(p, &ne.latest.Node, rules)
	first := ours.First()
	if method, _ := ours.Due(first.At); !by.Plain() && v.Evict && (method != policy.Delete || first.At.After(v.At)) {
		return "with its taint eviction on, it would delete the pod at " + taint.Stamp(v.At)
	}
	if without := taint.Decide(p, &ne.latest.Node, taint.Rules{NoComparison: true}); !without.At.Equal(v.At) {
		return "with the feature gate TaintTolerationComparisonOperators off, it ignores tolerations with the operators " +
			"Lt and Gt"
	}
	return ne.builtinCountdown(p, &v, rules)
}

// builtinCountdown returns the clause about the built-in controller's countdown, which may overflow, and which later
// taints do not change.
func (ne *nodeEstimate) builtinCountdown(p *taint.Pod, v *taint.Verdict, rules taint.Rules) string {
	var countdowns []*taint.State
	for _, history := range ne.latest.Taints {
		for i := range history {
			t := taint.Matching(p, &history[i].Taint, rules)
			switch {
			case history[i].Ended || t == nil || t.TolerationSeconds == nil:
			case *t.TolerationSeconds > math.MaxInt64/int64(time.Second):
				return "it counts tolerationSeconds in nanoseconds, which overflow here, so it may evict the pod at once"
			default:
				countdowns = append(countdowns, &history[i])
			}
		}
	}
	if v.Toleration == nil { // otherwise it has a countdown
		return ""
	}
	bySince := func(a, b *taint.State) int { return a.Since.Compare(b.Since) }
	first, last := slices.MinFunc(countdowns, bySince), slices.MaxFunc(countdowns, bySince)
	if first.Since.Before(last.Since) && !first.Taint.MatchTaint(v.Taint) {
		return "its countdown started with taint " + first.Taint.ToString() + ", and no other taint changes it"
	}
	return ""
}
