package taint_test

import (
	"strconv"
	"testing"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/taint"
)

// The twin follows the section "semantics" as plainly as possible, in whole seconds and without the code under test:
// for each taint on the node it goes back over the earlier states while the pod does not tolerate them forever.

// bears returns how long the pod tolerates a taint with this key and value, in seconds; -1 stands for no limit.
func bears(tolerations []v1.Toleration, key, value string) int64 {
	for _, t := range tolerations {
		number, errTaint := strconv.ParseInt(value, 10, 64)
		limit, errLimit := strconv.ParseInt(t.Value, 10, 64)
		numbers := errTaint == nil && errLimit == nil
		matches := (t.Key == "" || t.Key == key) && (t.Effect == "" || t.Effect == v1.TaintEffectNoExecute) &&
			(t.Operator == "Exists" || (t.Operator == "" || t.Operator == "Equal") && t.Value == value ||
				t.Operator == "Gt" && numbers && number > limit || t.Operator == "Lt" && numbers && number < limit)
		if matches && t.TolerationSeconds == nil {
			return -1
		} else if matches {
			return max(0, *t.TolerationSeconds)
		}
	}
	return 0
}

// twin returns the deadline in seconds from zero, or stays.
func twin(p *taint.Pod, n *taint.Node, bound int64) int64 {
	deadline := int64(stays)
	for _, h := range n.Taints {
		for i := range h {
			granted := bears(p.Tolerations, h[i].Taint.Key, h[i].Taint.Value)
			if h[i].Ended || granted < 0 {
				continue
			}
			start := h[i].Since
			for j := i; j >= 0 && bears(p.Tolerations, h[j].Taint.Key, h[j].Taint.Value) >= 0; j-- {
				start = h[j].Since
			}
			at := max(start.Unix()-zero.Unix(), bound) + granted
			if deadline == stays || at < deadline {
				deadline = at
			}
		}
	}
	return deadline
}

func TestDecideAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Int64Range(0, 40).Draw(t, "bound")
		p := boundAt(bound, pod(rapid.SliceOfN(rapid.Custom(drawToleration), 0, 5).Draw(t, "tolerations")...))
		n := node(rapid.SliceOfN(rapid.Custom(drawHistory), 0, 4).Draw(t, "taints")...)
		v := taint.Decide(p, n, taint.Rules{})
		got := int64(stays)
		if v.Evict {
			got = v.At.Unix() - zero.Unix()
		}
		if want := twin(p, n, bound); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func TestAMoreTolerantPodNeverGoesEarlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pod(rapid.SliceOfN(rapid.Custom(drawToleration), 0, 4).Draw(t, "tolerations")...)
		n := node(rapid.SliceOfN(rapid.Custom(drawHistory), 0, 4).Draw(t, "taints")...)
		before := taint.Decide(p, n, taint.Rules{})
		// It is appended, so that it affects only taints that no other toleration matched.
		p.Tolerations = append(p.Tolerations, rapid.Custom(drawToleration).Draw(t, "one more"))
		after := taint.Decide(p, n, taint.Rules{})
		if after.Evict && (!before.Evict || after.At.Before(before.At)) {
			t.Fatalf("before: %v; with one more toleration: %v", before, after)
		}
	})
}

func drawToleration(t *rapid.T) v1.Toleration {
	toleration := v1.Toleration{
		Key:      rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "key"),
		Operator: rapid.SampledFrom([]v1.TolerationOperator{"", "Equal", "Exists", "Lt", "Gt", "Near"}).Draw(t, "operator"),
		Value:    rapid.SampledFrom([]string{"", "1", "2", "3", "x"}).Draw(t, "value"),
		Effect:   rapid.SampledFrom([]v1.TaintEffect{"", "NoExecute", "NoSchedule"}).Draw(t, "effect"),
	}
	if rapid.Bool().Draw(t, "limited") {
		toleration.TolerationSeconds = seconds(rapid.Int64Range(-2, 30).Draw(t, "seconds"))
	}
	return toleration
}

func drawHistory(t *rapid.T) taint.History {
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	var h taint.History
	since := int64(0)
	for range rapid.IntRange(1, 5).Draw(t, "states") {
		since += rapid.Int64Range(0, 20).Draw(t, "lasts")
		value := rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "value")
		h = append(h, taint.State{Taint: noExecute(key, value), Since: at(since), Ended: rapid.Bool().Draw(t, "past")})
	}
	h[len(h)-1].Ended = false
	return h
}
