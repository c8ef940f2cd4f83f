package foresight_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestATolerationThatNearlyMatchesIsNamedWithTheOneDifference(t *testing.T) {
	forNoSchedule := func(p *v1.Pod) { p.Spec.Tolerations[0].Effect = v1.TaintEffectNoSchedule }
	without := rulesOf(policy.Config{Rules: taint.Rules{NoComparison: true}})
	for _, c := range []struct {
		name  string
		by    foresight.Ruleset
		taint string
		pod   *v1.Pod
		want  string
	}{
		{"the effect", foresight.Ruleset{}, "gpu=true:NoExecute", pod("a", toleration("gpu", "Exists", ""), forNoSchedule), "gpu:NoSchedule op=Exists: its effect is NoSchedule"},
		{"the case of the value", foresight.Ruleset{}, "gpu=true:NoExecute", pod("a", toleration("gpu", "Equal", "True")), `gpu=True:NoExecute: its value is "True", and the taint's "true"`},
		{"Equal without a value", foresight.Ruleset{}, "gpu=true:NoExecute", pod("a", toleration("gpu", "", "")), "gpu:NoExecute: operator Equal without a value matches only an empty value; use operator Exists"},
		{"the case of the key", foresight.Ruleset{}, "GPU:NoExecute", pod("a", toleration("gpu", "Exists", "")), "gpu:NoExecute op=Exists: its key is gpu, and the taint's GPU"},
		{"the prefix of the key", foresight.Ruleset{}, "nvidia.com/gpu:NoExecute", pod("a", toleration("gpu", "Exists", "")), "gpu:NoExecute op=Exists: its key is gpu, and the taint's nvidia.com/gpu"},
		{"the prefix alone", foresight.Ruleset{}, "nvidia.com/gpu:NoExecute", pod("a", toleration("nvidia.com", "Exists", "")), "nvidia.com:NoExecute op=Exists: its key is nvidia.com, and the taint's nvidia.com/gpu"},
		{"a key that was renamed", foresight.Ruleset{}, "node-role.kubernetes.io/control-plane:NoExecute", pod("a", toleration("node-role.kubernetes.io/master", "Exists", "")), "node-role.kubernetes.io/master:NoExecute op=Exists: Kubernetes has renamed the key node-role.kubernetes.io/master to node-role.kubernetes.io/control-plane"},
		{"a longer one than the one that matches", foresight.Ruleset{}, v1.TaintNodeUnreachable + ":NoExecute", pod("a", toleration("node.alpha.kubernetes.io/unreachable", "Exists", ""), tolerates(v1.TaintNodeUnreachable, 300)), "node.alpha.kubernetes.io/unreachable:NoExecute op=Exists: Kubernetes has renamed the key node.alpha.kubernetes.io/unreachable to node.kubernetes.io/unreachable"},
		{"the other key of an outage that was renamed", foresight.Ruleset{}, v1.TaintNodeNotReady + ":NoExecute", pod("a", toleration("node.alpha.kubernetes.io/notReady", "Exists", "")), "node.alpha.kubernetes.io/notReady:NoExecute op=Exists: Kubernetes has renamed the key node.alpha.kubernetes.io/notReady to node.kubernetes.io/not-ready"},
		{"no decimal integer", foresight.Ruleset{}, "sla=0950:NoExecute", pod("a", toleration("sla", "Gt", "900")), `sla=900:NoExecute op=Gt: Gt compares decimal integers, and the taint's value "0950" is none`},
		{"no decimal integer in the toleration", foresight.Ruleset{}, "sla=950:NoExecute", pod("a", toleration("sla", "Gt", "+900")), `sla=+900:NoExecute op=Gt: Gt compares decimal integers, and its value "+900" is none`},
		{"not greater", foresight.Ruleset{}, "sla=900:NoExecute", pod("a", toleration("sla", "Gt", "900")), "sla=900:NoExecute op=Gt: the taint's value 900 is not greater than 900"},
		{"no comparison", without, "sla=950:NoExecute", pod("a", toleration("sla", "Gt", "900")), "sla=900:NoExecute op=Gt: the operators Gt and Lt are switched off"},
		{"two differences", foresight.Ruleset{}, "gpu=true:NoExecute", pod("a", toleration("gpu", "Equal", "True"), forNoSchedule), ""},
		{"another key", foresight.Ruleset{}, "gpu:NoExecute", pod("a", toleration("disk", "Exists", "")), ""},
		{"a renamed key, for another taint", foresight.Ruleset{}, v1.TaintNodeUnreachable + ":NoExecute", pod("a", toleration("node.alpha.kubernetes.io/notReady", "Exists", "")), ""},
		{"another key, for a renamed one", foresight.Ruleset{}, "node-role.kubernetes.io/control-plane:NoExecute", pod("a", toleration("disk", "Exists", "")), ""},
		{"a shorter one", foresight.Ruleset{}, "gpu:NoExecute", pod("a", tolerates("gpu", 300), tolerates("GPU", 60)), ""},
		{"a trigger, for which tolerations count as for NoExecute", policies(drains("gpu")), "gpu=true:NoSchedule", pod("a", ownedBy("ReplicaSet/a"), toleration("gpu", "Exists", ""), func(p *v1.Pod) { p.Spec.Tolerations[0].TolerationSeconds = new(int64(300)) }), ""},
		{"the value, for a trigger", policies(drains("gpu")), "gpu=true:NoSchedule", pod("a", ownedBy("ReplicaSet/a"), toleration("gpu", "Equal", "True")), `gpu=True:NoExecute: its value is "True", and the taint's "true"`},
		{"none", foresight.Ruleset{}, "gpu:NoExecute", pod("a"), ""},
	} {
		e := explained(judgedBy(c.by, foresight.Focus{}, node("n1", timed(c.taint, -5)), c.pod), noon)
		got := ""
		if near := e.Taints[0].NearMiss; near != nil {
			got = near.Toleration + ": " + near.Difference
		}
		if got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
