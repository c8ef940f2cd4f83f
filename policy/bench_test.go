package policy_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// hundred returns policies of which the last decides, after all others were evaluated.
func hundred(match func(i int) policy.Match) policy.Config {
	var c policy.Config
	for i := range policy.MaxPolicies {
		c.Policies = append(c.Policies, policy.Policy{Name: fmt.Sprintf("p%d", i), Method: policy.Evict, Match: match(i)})
	}
	return c
}

// hundreds returns configurations of as many policies as there may be, by the field in which the policies differ.
func hundreds() map[string]policy.Config {
	maintenance := []policy.Taint{{Key: "example.com/maintenance"}}
	return map[string]policy.Config{
		"namespace": hundred(func(i int) policy.Match {
			return policy.Match{Taints: maintenance, Namespaces: []string{fmt.Sprintf("team-%d", i)}}
		}),
		"key": hundred(func(i int) policy.Match { return taints(policy.Taint{Key: fmt.Sprintf("example.com/k%d", i)}) }),
		"value": hundred(func(i int) policy.Match {
			return taints(policy.Taint{Key: "example.com/maintenance", Values: []string{fmt.Sprint(i)}})
		}),
		"pattern": hundred(func(i int) policy.Match { return policy.Match{Namespaces: []string{fmt.Sprintf("team-%d-*", i)}} }),
		"pod":     hundred(func(i int) policy.Match { return policy.Match{PodSelector: labelled("app", fmt.Sprintf("app-%d", i))} }),
		"node": hundred(func(i int) policy.Match {
			return policy.Match{NodeSelector: labelled("pool", fmt.Sprintf("pool-%d", i))}
		}),
	}
}

// usualPod returns a pod of a node that fails and is under maintenance.
func usualPod() (*taint.Pod, *taint.Node) {
	pod := aPod(tolerating(v1.TaintNodeNotReady, 300), tolerating(v1.TaintNodeUnreachable, 300))
	pod.Namespace = "team-99"
	return pod, nodeWith(on(10, "example.com/maintenance", "kernel"), on(20, v1.TaintNodeUnreachable, ""))
}

func BenchmarkDecide(b *testing.B) {
	pod, node := usualPod()
	b.Run("taint.Decide", func(b *testing.B) {
		for b.Loop() {
			taint.Decide(pod, node, taint.Rules{})
		}
	})
	b.Run("no policies", func(b *testing.B) {
		set := compiled(b, policy.Config{})
		for b.Loop() {
			set.Decide(pod, node, nil)
		}
	})
	b.Run("one", func(b *testing.B) {
		set := compiled(b, policies(only(policy.Evict, "example.com/maintenance")))
		for b.Loop() {
			set.Decide(pod, node, nil)
		}
	})
	for _, name := range []string{"key", "namespace", "value", "pattern", "pod", "node"} {
		b.Run("a hundred by "+name, func(b *testing.B) {
			set := compiled(b, hundreds()[name])
			b.ReportAllocs()
			for b.Loop() {
				set.Decide(pod, node, nil)
			}
		})
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	pod, node := usualPod()
	node.Triggers = draining(5, "example.com/maintenance", "kernel").Triggers
	configs := hundreds()
	configs["none"] = policy.Config{}
	drain := staying(policy.Tolerations{Absent: secs(1)})
	drain.Match = taints(policy.Taint{Key: "example.com/maintenance", Effects: noSchedule})
	configs["drain"] = policies(drain)
	breakers := policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{zoneBreaker()}}}
	configs["breakers"] = breakers
	for name, c := range configs {
		set := compiled(t, c)
		facts := &policy.Facts{Tripped: map[policy.Trip]bool{{Breaker: "zones", Group: "b"}: true}}
		if got := testing.AllocsPerRun(10, func() { set.Decide(pod, node, facts) }); got != 0 {
			t.Errorf("%s: got %v allocations, want none", name, got)
		}
	}
}
