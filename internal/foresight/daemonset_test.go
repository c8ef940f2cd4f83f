package foresight_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// The DaemonSet controller asks no policy: a plan counts its pods as going, and explain and pending say the same.
func TestNothingKeepsAPodThatTheDaemonSetControllerDeletes(t *testing.T) {
	gpu := func(method policy.Method, effects ...v1.TaintEffect) policy.Config {
		return policy.Config{Policies: []policy.Policy{{
			Name: "p", Method: method,
			Match: policy.Match{Taints: []policy.Taint{{Key: "gpu", Effects: effects}}, OwnerKinds: []string{"DaemonSet", "ReplicaSet"}},
		}}}
	}
	drain := gpu(policy.Delete, v1.TaintEffectNoSchedule)
	drain.Policies[0].Tolerations = &policy.Tolerations{Absent: lasting(0)}
	tripped := policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{outage(func(b *policy.Breaker) { b.Taints[0].Key, b.TopologyKey = "gpu", "" })}}}
	rate := policy.Config{Guards: policy.Guards{Rates: []policy.Rate{{Name: "slow", EvictionsPerSecond: 0.001, Burst: 1}}}}
	limited := foresight.Ruleset{MaxEvictionsPerSecond: 0.001}
	paused := must(foresight.NewRuleset(policy.Config{}, true))
	for _, test := range []struct {
		name          string
		rules         foresight.Ruleset
		taint         string
		daemon, other string // the effect of the taint
	}{
		{"without policies", rulesOf(policy.Config{}), "gpu:NoExecute", "deleted", foresight.Evicted},
		{"held", rulesOf(gpu(policy.Hold)), "gpu:NoExecute", "deleted", foresight.Held},
		{"ignored", rulesOf(gpu(policy.Ignore)), "gpu:NoExecute", "deleted", foresight.Stays},
		{"evicted, and the budget is left to the other", rulesOf(gpu(policy.Evict)), "gpu:NoExecute", "deleted", foresight.Evicted},
		{"held by a breaker", rulesOf(tripped), "gpu:NoExecute", "deleted", foresight.Held},
		{"limited by a rate, which is left to the other", rulesOf(rate), "gpu:NoExecute", "deleted", foresight.Evicted},
		{"limited by maxEvictionsPerSecond", limited, "gpu:NoExecute", "deleted", foresight.Evicted},
		{"paused", paused, "gpu:NoExecute", "deleted", foresight.Evicted},
		{"held for a NoSchedule taint", rulesOf(gpu(policy.Hold, v1.TaintEffectNoSchedule)), "gpu:NoSchedule", foresight.Held, foresight.Held},
		{"evicted for a NoSchedule taint", rulesOf(drain), "gpu:NoSchedule", foresight.Evicted, foresight.Evicted},
		{"a NoSchedule taint without a policy", rulesOf(policy.Config{}), "gpu:NoSchedule", foresight.Stays, foresight.Stays},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := judgedBy(test.rules, foresight.Focus{}, node("n1"), budget("web", 1),
				pod("a", ownedBy("DaemonSet/agent"), labelled("app", "web")), pod("b", ownedBy("ReplicaSet/b"), labelled("app", "web")))
			p := must(m.Plan(ask(test.taint)))
			got := map[string]string{}
			for _, pod := range p.Pods {
				switch got[pod.Name] = pod.Effect; {
				case pod.DeletedBy != "":
					got[pod.Name] = "deleted"
				case pod.Waits:
					got[pod.Name] = "blocked"
				}
			}
			if diff := cmp.Diff(map[string]string{"a": test.daemon, "b": test.other}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if p.Pace != nil && test.daemon == "deleted" { // with two evictions, the second would wait
				t.Errorf("the pace counts the DaemonSet's pod: %+v", p.Pace)
			}
			if goes := slices.Contains(p.Names(), "shop/a"); goes != (test.daemon == "deleted" || test.daemon == foresight.Evicted) {
				t.Errorf("the plan has these pods that go: %q", p.Names())
			}
		})
	}
}

func TestExplainAndPendingNameTheDaemonSetController(t *testing.T) {
	n := node("n1", timed("gpu:NoExecute", -1))
	held := policies(policy.Policy{Name: "q", Method: policy.Hold})
	m := judgedBy(held, foresight.Focus{}, n, pod("a", ownedBy("DaemonSet/agent")))
	const want = "taint gpu:NoExecute (countdown started at 2026-05-01T12:00:00Z) is not tolerated; the DaemonSet controller deletes such pods, and asks no policy, guard or budget"
	e := explained(m, noon)
	if e.Prediction.Reason != want || e.Prediction.HeldBy != "" || e.Builtin != "" {
		t.Errorf("explain: %+v, %s", e.Prediction, e.Builtin)
	}
	for _, c := range e.Commands {
		if strings.Contains(c.Does, "only this pod") {
			t.Errorf("%q does not help: the DaemonSet controller reads the template", c.Command)
		}
	}
	if p := m.Pending(noon, nil); len(p.Pods) != 1 || p.Pods[0].State != eviction.StateDue || p.Pods[0].DeletedBy != "the DaemonSet controller" {
		t.Errorf("pending: %+v", p.Pods)
	}
	long := judgedBy(held, foresight.Focus{}, node("n1", timed("gpu:NoExecute", -60)), pod("a", ownedBy("DaemonSet/agent")))
	if p := long.Pending(noon, nil); len(p.Pods) != 1 || noted(p.Notes, "should have been evicted by now") {
		t.Errorf("taint-manager is said to be late: %q", p.Notes)
	}
	if e := explained(judgedBy(held, foresight.Focus{}, n, pod("a", ownedBy("DaemonSet/agent"), tolerates("gpu", 0))), noon); e.Prediction.HeldBy != "policy q" {
		t.Errorf("a toleration with seconds tolerates: %+v", e.Prediction)
	}
}
