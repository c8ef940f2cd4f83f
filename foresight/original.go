package foresight

import (
	"math"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// original returns a clause that says how the original would decide otherwise, as far as the present state shows
// it; "" if it would decide alike. ours is the verdict by the rules. docs/semantics.md lists all differences.
func (ne *nodeEstimate) original(p *taint.Pod, ours *policy.Verdict, by *Ruleset) string {
	rules := by.config.Rules
	v := taint.Decide(p, &ne.latest.Node, rules)
	if by.configured() {
		if why := beside(v, ours); why != "" {
			return why
		}
	}
	switch v.Stay {
	case taint.Finished, taint.Terminating, taint.Mirror:
		if other := taint.Decide(ordinary(p), &ne.latest.Node, rules); other.Evict {
			return "the original deletes such a pod, too, because of taint " + other.Taint.ToString()
		}
		return ""
	}
	if without := taint.Decide(p, &ne.latest.Node, taint.Rules{NoComparison: true}); without.Evict != v.Evict ||
		!without.At.Equal(v.At) {
		return "while its feature gate TaintTolerationComparisonOperators is off, the original ignores the " +
			"tolerations with the operators Lt and Gt"
	}
	finite := ne.finite(p, rules)
	for _, f := range finite {
		if f.seconds > math.MaxInt64/int64(time.Second) {
			return "the original counts tolerationSeconds in nanoseconds, which overflow here, so it may evict " +
				"the pod at once"
		}
	}
	if first := earliest(finite); v.Evict && v.Toleration != nil && first != nil && !first.taint.MatchTaint(v.Taint) {
		return "the countdown of the original began with taint " + first.taint.ToString() + ", and no other " +
			"taint moves it"
	}
	return ""
}

// beside returns a clause that says when the original deletes the pod, if policies or guards decide otherwise.
func beside(original taint.Verdict, ours *policy.Verdict) string {
	first := ours.First()
	method, _ := ours.Due(first.At)
	if !original.Evict || first.Evict && method == policy.Delete && !first.At.After(original.At) {
		return ""
	}
	return "kube-controller-manager, where its taint eviction runs, would delete it at " + taint.Stamp(original.At)
}

// ordinary returns the pod as if it were running.
func ordinary(p *taint.Pod) *taint.Pod {
	running := *p
	running.Phase, running.Terminating, running.Mirror = v1.PodRunning, false, false
	return &running
}

// tolerated is a taint of the node that the pod tolerates for some time.
type tolerated struct {
	taint   *v1.Taint
	since   time.Time
	seconds int64
}

// finite returns the taints of the node that the pod tolerates for some time.
func (ne *nodeEstimate) finite(p *taint.Pod, rules taint.Rules) []tolerated {
	var list []tolerated
	for _, history := range ne.latest.Taints {
		for i := range history {
			s := &history[i]
			if !stands(s, &s.Taint) {
				continue
			}
			if t := taint.Matching(p, &s.Taint, rules); t != nil && t.TolerationSeconds != nil {
				list = append(list, tolerated{&s.Taint, s.Since, *t.TolerationSeconds})
			}
		}
	}
	return list
}

// earliest returns the taint that started first; nil unless there are two with different starts.
func earliest(list []tolerated) *tolerated {
	var first *tolerated
	differ := false
	for i := range list {
		differ = differ || !list[i].since.Equal(list[0].since)
		if first == nil || list[i].since.Before(first.since) {
			first = &list[i]
		}
	}
	if !differ {
		return nil
	}
	return first
}
