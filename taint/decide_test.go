package taint_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// zero is the time from which the tests count seconds.
var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds int64) time.Time { return zero.Add(time.Duration(seconds) * time.Second) }

func seconds(n int64) *int64 { return &n }

// noExecute returns a taint with this key and value.
func noExecute(key, value string) v1.Taint {
	return v1.Taint{Key: key, Value: value, Effect: v1.TaintEffectNoExecute}
}

// on returns the history of a taint that has had one state.
func on(since int64, key, value string) taint.History {
	return taint.History{{Taint: noExecute(key, value), Since: at(since)}}
}

func node(taints ...taint.History) *taint.Node {
	return &taint.Node{Name: "n", UID: "node-uid", Taints: taints}
}

// pod returns a pod that is bound to node n at second 0.
func pod(tolerations ...v1.Toleration) *taint.Pod {
	return &taint.Pod{
		UID: "uid", Namespace: "ns", Name: "p", Node: "n",
		Phase: v1.PodRunning, Bound: at(0), Tolerations: tolerations,
	}
}

func exists(key string, secs *int64) v1.Toleration {
	return v1.Toleration{Key: key, Operator: v1.TolerationOpExists, TolerationSeconds: secs}
}

func equal(key, value string, secs *int64) v1.Toleration {
	return v1.Toleration{Key: key, Operator: v1.TolerationOpEqual, Value: value, TolerationSeconds: secs}
}

// compare returns a toleration of the numeric taint "load".
func compare(op v1.TolerationOperator, value string, secs *int64) v1.Toleration {
	return v1.Toleration{Key: "load", Operator: op, Value: value, TolerationSeconds: secs}
}

// stays means that no eviction is expected.
const stays = math.MinInt64

func TestDecide(t *testing.T) {
	gpu := func(since int64) taint.History { return on(since, "gpu", "") }
	disk := func(since int64) taint.History { return on(since, "disk", "") }
	load := func(v string) taint.History { return on(10, "load", v) }
	everything := v1.Toleration{Operator: v1.TolerationOpExists}

	for _, c := range []struct {
		name string
		pod  *taint.Pod
		node *taint.Node
		want int64 // the deadline in seconds, or stays
	}{
		// Rule 1, 5.
		{"a node without taints keeps its pods", pod(), node(), stays},
		{"a node that is not known keeps its pods", pod(), nil, stays},

		// Rule 2: matching.
		{"Exists matches every value of its key", pod(exists("gpu", nil)), node(on(10, "gpu", "a100")), stays},
		{"Exists matches no other key", pod(exists("disk", nil)), node(gpu(10)), 10},
		{"Equal matches the same value", pod(equal("gpu", "a", nil)), node(on(10, "gpu", "a")), stays},
		{"Equal matches no other value", pod(equal("gpu", "a", nil)), node(on(10, "gpu", "b")), 10},
		{"an empty operator means Equal", pod(v1.Toleration{Key: "gpu", Value: "a"}), node(on(10, "gpu", "a")), stays},
		{"an empty operator is not Exists", pod(v1.Toleration{Key: "gpu"}), node(on(10, "gpu", "a")), 10},
		{"an empty key with Exists matches every key", pod(everything), node(gpu(10), disk(20)), stays},
		{"an empty effect matches NoExecute", pod(exists("gpu", nil)), node(gpu(10)), stays},
		{"the effect NoExecute matches", pod(v1.Toleration{Key: "gpu", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}), node(gpu(10)), stays},
		{"another effect does not match", pod(v1.Toleration{Key: "gpu", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule}), node(gpu(10)), 10},
		{"an unknown operator matches nothing", pod(v1.Toleration{Key: "gpu", Operator: "Near"}), node(gpu(10)), 10},
		{"Gt: the taint's value is greater than the toleration's", pod(compare(v1.TolerationOpGt, "5", nil)), node(load("6")), stays},
		{"Gt does not match an equal value", pod(compare(v1.TolerationOpGt, "6", nil)), node(load("6")), 10},
		{"Lt: the taint's value is less than the toleration's", pod(compare(v1.TolerationOpLt, "7", nil)), node(load("6")), stays},
		{"Lt does not match an equal value", pod(compare(v1.TolerationOpLt, "6", nil)), node(load("6")), 10},
		{"Lt compares negative numbers", pod(compare(v1.TolerationOpLt, "0", nil)), node(load("-6")), stays},
		{"Gt matches no value that is not a number", pod(compare(v1.TolerationOpGt, "5", nil)), node(load("high")), 10},
		{"Gt with a limit that is not a number matches nothing", pod(compare(v1.TolerationOpGt, "low", nil)), node(load("6")), 10},

		// Rule 2: the first match counts.
		{"the first match counts, though a later one is longer", pod(exists("gpu", seconds(5)), exists("gpu", nil)), node(gpu(10)), 15},
		{"the first match counts, though a later one is shorter", pod(exists("gpu", nil), exists("gpu", seconds(5))), node(gpu(10)), stays},
		{"a toleration that does not match is passed over", pod(equal("gpu", "b", nil), exists("gpu", seconds(5))), node(on(10, "gpu", "a")), 15},

		// Rule 3.
		{"no toleration: at the start of the exposure", pod(), node(gpu(10)), 10},
		{"one taint borne, another not", pod(exists("gpu", nil)), node(gpu(10), disk(20)), 20},

		// Rule 4.
		{"seconds count from the start of the exposure", pod(exists("gpu", seconds(30))), node(gpu(10)), 40},
		{"zero seconds mean at once", pod(exists("gpu", seconds(0))), node(gpu(10)), 10},
		{"negative seconds mean at once", pod(exists("gpu", seconds(-5))), node(gpu(10)), 10},
		{"the most negative seconds mean at once", pod(exists("gpu", seconds(math.MinInt64))), node(gpu(10)), 10},
		{"the greatest seconds mean for ever", pod(exists("gpu", seconds(math.MaxInt64))), node(gpu(10)), stays},
		{"a second taint, later and shorter", pod(exists("gpu", seconds(30)), exists("disk", seconds(4))), node(gpu(0), disk(2)), 6},
		{"a second taint, later and longer", pod(exists("gpu", seconds(4)), exists("disk", seconds(30))), node(gpu(0), disk(2)), 4},
		{"each taint counts from its own start", pod(exists("", seconds(10))), node(gpu(7), disk(3)), 13},

		// The start of the exposure.
		{"not before the pod was bound", boundAt(100, pod(exists("gpu", seconds(30)))), node(gpu(10)), 130},
		{"no toleration: at once when bound", boundAt(100, pod()), node(gpu(10)), 100},
		{
			"a value that changes does not restart the countdown", pod(exists("load", seconds(60))),
			node(states(past(10, "load", "1"), past(20, "load", "2"), state(30, "load", "3"))), 70,
		},
		{
			"the countdown starts where the run that is not borne for ever starts", pod(compare(v1.TolerationOpLt, "5", nil), exists("load", seconds(60))),
			node(states(past(10, "load", "9"), past(20, "load", "1"), past(30, "load", "7"), state(40, "load", "8"))), 90,
		},
		{
			"a state that is borne for ever now stays, whatever was", pod(compare(v1.TolerationOpLt, "5", nil)),
			node(states(past(10, "load", "9"), state(20, "load", "1"))), stays,
		},
		{
			"not-ready for ever and unreachable for 60 s gets its 60 s", pod(exists(v1.TaintNodeNotReady, nil), exists(v1.TaintNodeUnreachable, seconds(60))),
			node(states(past(0, v1.TaintNodeNotReady, ""), state(100, v1.TaintNodeUnreachable, ""))), 160,
		},
		{
			"the swap of not-ready and unreachable is one exposure", pod(exists(v1.TaintNodeNotReady, seconds(300)), exists(v1.TaintNodeUnreachable, seconds(300))),
			node(states(past(0, v1.TaintNodeNotReady, ""), state(100, v1.TaintNodeUnreachable, ""))), 300,
		},
		{
			"while both are there, each is judged", pod(exists(v1.TaintNodeNotReady, seconds(300)), exists(v1.TaintNodeUnreachable, nil)),
			node(states(state(0, v1.TaintNodeNotReady, ""), state(100, v1.TaintNodeUnreachable, ""))), 300,
		},

		// Never evicted.
		{"a pod without a node", with(func(p *taint.Pod) { p.Node = "" }), node(gpu(10)), stays},
		{"a pod that has succeeded", with(func(p *taint.Pod) { p.Phase = v1.PodSucceeded }), node(gpu(10)), stays},
		{"a pod that has failed", with(func(p *taint.Pod) { p.Phase = v1.PodFailed }), node(gpu(10)), stays},
		{"a pod that is being deleted", with(func(p *taint.Pod) { p.Terminating = true }), node(gpu(10)), stays},
		{"a mirror pod", with(func(p *taint.Pod) { p.Mirror = true }), node(gpu(10)), stays},
		{"a pending pod is evicted", with(func(p *taint.Pod) { p.Phase = v1.PodPending }), node(gpu(10)), 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := taint.Decide(c.pod, c.node, taint.Rules{})
			got := int64(stays)
			if v.Evict {
				got = v.At.Unix() - zero.Unix()
			}
			if got != c.want {
				t.Errorf("deadline: got %d, want %d (%v)", got, c.want, v)
			}
		})
	}
}

func boundAt(second int64, p *taint.Pod) *taint.Pod {
	p.Bound = at(second)
	return p
}

func with(change func(*taint.Pod)) *taint.Pod {
	p := pod()
	change(p)
	return p
}

func states(s ...taint.State) taint.History { return s }

func state(since int64, key, value string) taint.State {
	return taint.State{Taint: noExecute(key, value), Since: at(since)}
}

func past(since int64, key, value string) taint.State {
	s := state(since, key, value)
	s.Ended = true
	return s
}

func TestLtAndGtMatchNothingWhenTurnedOff(t *testing.T) {
	p := pod(compare(v1.TolerationOpLt, "7", nil))
	n := node(on(10, "load", "6"))
	if v := taint.Decide(p, n, taint.Rules{NoComparison: true}); !v.Evict {
		t.Errorf("got %v, want an eviction", v)
	}
}

func TestALimitAfterTheYear9999IsNone(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix() - at(10).Unix()
	n := node(on(10, "gpu", ""))
	if v := taint.Decide(pod(exists("gpu", seconds(last))), n, taint.Rules{}); !v.Evict || v.At.Year() != 9999 {
		t.Errorf("the last second of 9999: got %v, want an eviction then", v)
	}
	if v := taint.Decide(pod(exists("gpu", seconds(last+1))), n, taint.Rules{}); v.Evict {
		t.Errorf("a second later: got %v, want to stay", v)
	}
}

func TestTheVerdictNamesItsTaintAndToleration(t *testing.T) {
	p := pod(exists("gpu", seconds(30)), exists("disk", seconds(4)))
	v := taint.Decide(p, node(on(0, "gpu", ""), on(2, "disk", "")), taint.Rules{})
	if v.Taint.Key != "disk" || v.Toleration != &p.Tolerations[1] || !v.Start.Equal(at(2)) {
		t.Errorf("got taint %v, toleration %v, start %v", v.Taint, v.Toleration, v.Start)
	}
}

func TestTheReasonIsOneSentence(t *testing.T) {
	n := node(on(10, "gpu", "a100"))
	for _, c := range []struct{ got, want string }{
		{
			taint.Decide(pod(), n, taint.Rules{}).String(),
			"to be evicted from node n at 2026-01-01T00:00:10Z: taint gpu=a100:NoExecute (countdown started at 2026-01-01T00:00:10Z) is not tolerated",
		},
		{
			taint.Decide(pod(equal("gpu", "a100", seconds(30))), n, taint.Rules{}).String(),
			`to be evicted from node n at 2026-01-01T00:00:40Z: taint gpu=a100:NoExecute (countdown started at 2026-01-01T00:00:10Z) is tolerated for 30s by toleration "gpu=a100"`,
		},
		{
			taint.Decide(pod(v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: seconds(0)}), n, taint.Rules{}).Because(),
			`taint gpu=a100:NoExecute (countdown started at 2026-01-01T00:00:10Z) is tolerated for 0s by toleration ":NoExecute op=Exists"`,
		},
		{
			taint.Verdict{Evict: true, Taint: &n.Taints[0][0].Taint, Start: at(0), Toleration: &v1.Toleration{Key: "gpu", Operator: v1.TolerationOpExists}}.Because(),
			`taint gpu=a100:NoExecute (countdown started at 2026-01-01T00:00:00Z) is tolerated forever by toleration "gpu op=Exists"`,
		},
		{taint.Decide(pod(exists("gpu", nil)), n, taint.Rules{}).String(), "stays on node n: every NoExecute taint of the node is tolerated forever"},
		{taint.Decide(pod(), node(), taint.Rules{}).String(), "stays on node n: the node has no NoExecute taint"},
		{taint.Decide(pod(), nil, taint.Rules{}).String(), "stays on node n: the node is not known"},
		{taint.Decide(with(func(p *taint.Pod) { p.Node = "" }), n, taint.Rules{}).String(), `stays on node "": the pod is bound to no node`},
		{taint.Decide(with(func(p *taint.Pod) { p.Phase = v1.PodFailed }), n, taint.Rules{}).Because(), "the pod has finished"},
		{taint.Decide(with(func(p *taint.Pod) { p.Terminating = true }), n, taint.Rules{}).Because(), "the pod is already being deleted"},
		{taint.Decide(with(func(p *taint.Pod) { p.Mirror = true }), n, taint.Rules{}).Because(), "the pod mirrors a static pod"},
		{taint.Stamp(zero.Add(1500*time.Microsecond + 250*time.Millisecond)), "2026-01-01T00:00:00.251Z"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestHundredsOfTaintsAndTolerationsAreJudged(t *testing.T) {
	var taints []taint.History
	var tolerations []v1.Toleration
	for i := range 500 {
		key := "k" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		taints = append(taints, on(int64(i), key, ""))
		tolerations = append(tolerations, exists(key, seconds(int64(10000-i))))
	}
	v := taint.Decide(pod(tolerations...), node(taints...), taint.Rules{})
	if !v.Evict || !v.At.Equal(at(10000)) {
		t.Errorf("got %v, want the deadline at second 10000", v)
	}
}
