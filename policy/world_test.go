package policy_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// zero is the moment from which the tests count seconds.
var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds int64) time.Time { return zero.Add(time.Duration(seconds) * time.Second) }

func secs(n int64) *metav1.Duration { return after(time.Duration(n) * time.Second) }

// state returns a taint with an effect that is present since that second.
func state(since int64, key, value string, effect v1.TaintEffect) taint.State {
	return taint.State{Taint: v1.Taint{Key: key, Value: value, Effect: effect}, Since: at(since)}
}

// on returns the history of a NoExecute taint that has had one state.
func on(since int64, key, value string) taint.History {
	return taint.History{state(since, key, value, v1.TaintEffectNoExecute)}
}

// then returns the history after a change of the value.
func then(h taint.History, since int64, value string) taint.History {
	last := h[len(h)-1]
	h[len(h)-1].Ended = true
	last.Taint.Value, last.Since = value, at(since)
	return append(h, last)
}

func nodeWith(taints ...taint.History) *taint.Node {
	return &taint.Node{Name: "n", UID: "node-uid", Taints: taints, Labels: map[string]string{"pool": "db", "zone": "a"}}
}

// draining returns a node with a trigger of effect NoSchedule.
func draining(since int64, key, value string) *taint.Node {
	n := nodeWith()
	n.Triggers = []taint.History{{state(since, key, value, v1.TaintEffectNoSchedule)}}
	return n
}

// aPod returns a pod of a StatefulSet, bound to node n at second 0.
func aPod(tolerations ...v1.Toleration) *taint.Pod {
	return &taint.Pod{
		UID: "uid", Namespace: "shop", Name: "p", Node: "n", Phase: v1.PodRunning, Bound: at(0), Tolerations: tolerations,
		Labels: map[string]string{"app": "db"}, Controller: &taint.Owner{Kind: "StatefulSet", Name: "db"},
	}
}

// tolerating returns a toleration of a key: forever if seconds is negative.
func tolerating(key string, seconds int64) v1.Toleration {
	t := v1.Toleration{Key: key, Operator: v1.TolerationOpExists}
	if seconds >= 0 {
		t.TolerationSeconds = &seconds
	}
	return t
}

// set decides by facts that tests pass with each pod.
type set struct{ *policy.Set }

func (s set) Decide(pod *taint.Pod, node *taint.Node, facts *policy.Facts) policy.Verdict {
	return policy.Judge{Set: s.Set, Facts: facts}.Decide(pod, node)
}

func (s set) Pairs(pod *taint.Pod, node *taint.Node, facts *policy.Facts) []policy.PairDecision {
	return policy.Judge{Set: s.Set, Facts: facts}.Pairs(pod, node)
}

func compiled(t testing.TB, c policy.Config) set {
	t.Helper()
	s, problems := policy.Compile(c)
	if len(problems) > 0 {
		t.Fatalf("refused: %+v", problems)
	}
	return set{s}
}

// policies returns a configuration of policies alone; each gets a name if it has none.
func policies(list ...policy.Policy) policy.Config {
	for i := range list {
		if list[i].Name == "" {
			list[i].Name = string(rune('a' + i))
		}
	}
	return policy.Config{Policies: list}
}

// zoneBreaker returns a breaker for unreachable that settles for ten seconds.
func zoneBreaker() policy.Breaker {
	return policy.Breaker{
		Name: "zones", TopologyKey: "zone", MaxNodes: intstr.FromString("50%"),
		Taints: []policy.TaintKey{{Key: v1.TaintNodeUnreachable}}, Settle: secs(10),
	}
}
