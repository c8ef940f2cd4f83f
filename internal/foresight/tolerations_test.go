package foresight_test

import (
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// toleration adds a toleration of effect NoExecute with this operator and value.
func toleration(key string, operator v1.TolerationOperator, value string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: key, Operator: operator, Value: value, Effect: v1.TaintEffectNoExecute})
	}
}

func TestATolerationThatOnlyDisplacesTheDefaultIsNamed(t *testing.T) {
	const unreachable = v1.TaintNodeUnreachable
	for _, test := range []struct {
		name   string
		pod    *v1.Pod
		warned bool
	}{
		{"with a value", pod("a", toleration(unreachable, v1.TolerationOpEqual, "x")), true},
		{"with Gt", pod("a", toleration(unreachable, v1.TolerationOpGt, "5")), true},
		{"with Lt", pod("a", toleration(unreachable, v1.TolerationOpLt, "5")), true},
		{"with an empty value", pod("a", toleration(unreachable, v1.TolerationOpEqual, "")), false},
		{"with a value, and another one that matches", pod("a", toleration(unreachable, v1.TolerationOpEqual, "x"), tolerates(unreachable, 300)), false},
		{"none at all", pod("a"), false},
		{"of another taint", pod("a", toleration("gpu", v1.TolerationOpEqual, "x")), false},
		{"of another effect", pod("a", toleration(unreachable, v1.TolerationOpEqual, "x"), func(p *v1.Pod) { p.Spec.Tolerations[0].Effect = v1.TaintEffectNoSchedule }), false},
	} {
		is := func(warning string) bool {
			return strings.Contains(warning, "keeps Kubernetes from adding its default of 5m")
		}
		if got := slices.ContainsFunc(explain(test.pod, node("n1")).Warnings, is); got != test.warned {
			t.Errorf("explain, %s: warned %v", test.name, got)
		}
		if got := slices.ContainsFunc(plan(ask(unreachable+":NoExecute"), node("n1"), test.pod).Pods[0].Warnings, is); got != test.warned {
			t.Errorf("plan, %s: warned %v", test.name, got)
		}
		if got := plan(ask("gpu:NoExecute"), node("n1"), test.pod).Pods[0].Warnings; slices.ContainsFunc(got, is) {
			t.Errorf("plan of another taint, %s: %q", test.name, got)
		}
	}
}

func TestACatchAllBeforeTheTolerationsOfADaemonSetIsNamed(t *testing.T) {
	agent := func(change ...func(*v1.Pod)) *v1.Pod {
		return pod("a", append(change, tolerates(v1.TaintNodeUnreachable, -1), ownedBy("DaemonSet/agent"))...)
	}
	const want = `only the first toleration that matches node.kubernetes.io/unreachable:NoExecute counts ("op=Exists for 60s"); the longer one after it ("node.kubernetes.io/unreachable op=Exists", no time limit) is ignored. To use it, put it first in the pod template's tolerations`
	if got := explain(agent(tolerates("", 60)), node("n1")).Warnings; !slices.Contains(got, want) {
		t.Errorf("explain: %q", got)
	}
	if got := plan(ask("node.kubernetes.io/unreachable:NoExecute"), node("n1"), agent(tolerates("", 60))).Pods[0].Warnings; !slices.Contains(got, want) {
		t.Errorf("plan: %q", got)
	}
	if got := explain(agent(), node("n1")).Warnings; got != nil {
		t.Errorf("without a catch-all: %q", got)
	}
	notReady, unreachable := timed(v1.TaintNodeNotReady+":NoExecute", -5), timed(v1.TaintNodeUnreachable+":NoExecute", -5)
	if got := explain(agent(tolerates("", 60)), node("n1", notReady)).Warnings; !slices.Contains(got, want) {
		t.Errorf("while the node has the taint whose place this one may take: %q", got)
	}
	if got := explain(agent(tolerates("", 60)), node("n1", unreachable)).Warnings; len(got) != 1 {
		t.Errorf("while the node has the taint: %q", got)
	}
}

func TestAPodThatStaysGetsNoWarningOfShadowedTolerations(t *testing.T) {
	for name, stays := range map[string]*v1.Pod{
		"the longest toleration is the first":    pod("a", tolerates("", -1), tolerates("gpu", 30)),
		"a pod that has finished is not evicted": pod("a", tolerates("gpu", 30), tolerates("", -1), in(v1.PodSucceeded)),
	} {
		if got := plan(ask("gpu:NoExecute"), node("n1"), stays).Pods[0].Warnings; got != nil {
			t.Errorf("plan, %s: %q", name, got)
		}
		if got := explain(stays, node("n1", parsed("gpu:NoExecute"))).Warnings; got != nil {
			t.Errorf("explain, %s: %q", name, got)
		}
	}
}

func TestWhatFollowsAnEvictionIsWarnedOf(t *testing.T) {
	const loop = "the DaemonSet controller creates the pod on this node again at once, where it is evicted again, without end; add a NoSchedule taint that it does not tolerate"
	const may = "a replacement pod also tolerates the node's taints for some time, so it may be scheduled to the same node and evicted again"
	const lingers = "it stays Terminating until its node is reachable again, is deleted, or has the taint out-of-service"
	owned := func(owner, key string, seconds int64) *v1.Pod {
		return pod("a", ownedBy(owner), tolerates(key, seconds))
	}
	for _, test := range []struct {
		name string
		pod  *v1.Pod
		q    foresight.Question
		node *v1.Node
		want string
	}{
		{"a DaemonSet that tolerates for 5 s", owned("DaemonSet/agent", "gpu", 5), ask("gpu:NoExecute"), node("n1"), loop},
		{"a DaemonSet that does not tolerate", pod("a", ownedBy("DaemonSet/agent")), ask("gpu:NoExecute"), node("n1"), ""},
		{"another one", owned("ReplicaSet/web", "gpu", 5), ask("gpu:NoExecute"), node("n1"), may},
		{"a toleration without a key", owned("ReplicaSet/web", "", 300), ask("gpu:NoExecute"), node("n1"), may},
		{"a pod that nobody replaces", pod("a", tolerates("gpu", 5)), ask("gpu:NoExecute"), node("n1"), ""},
		{"a NoSchedule taint that keeps it off", owned("DaemonSet/agent", "gpu", 5), ask("gpu:NoExecute", "full:NoSchedule"), node("n1"), ""},
		{"one that the node has", owned("ReplicaSet/web", "gpu", 5), ask("gpu:NoExecute"), node("n1", parsed("full:NoSchedule")), ""},
		{"a preference", owned("ReplicaSet/web", "gpu", 5), ask("gpu:NoExecute"), node("n1", parsed("full:PreferNoSchedule")), may},
		{"the default for unreachable, whose NoSchedule taint follows", pod("a", ownedBy("ReplicaSet/web"), toleration(v1.TaintNodeUnreachable, v1.TolerationOpExists, ""), func(p *v1.Pod) {
			p.Spec.Tolerations[0].TolerationSeconds = new(int64(300))
		}), ask("node.kubernetes.io/unreachable:NoExecute"), node("n1"), lingers},
		{"a dead node that is released", pod("a"), ask("node.kubernetes.io/unreachable:NoExecute"), node("n1", parsed("node.kubernetes.io/out-of-service:NoExecute")), ""},
	} {
		got := strings.Join(plan(test.q, test.node, test.pod).Pods[0].Warnings, "|")
		if got != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	bounded := policies(policy.Policy{Name: "p", Method: policy.Delete, Tolerations: &policy.Tolerations{Unlimited: lasting(60)}})
	p, err := judgedBy(bounded, foresight.Focus{}, node("n1"), owned("ReplicaSet/web", "gpu", -1)).Plan(ask("gpu:NoExecute"))
	forever := strings.Replace(may, " for some time", "", 1)
	if err != nil || !slices.Equal(p.Pods[0].Warnings, []string{forever}) {
		t.Errorf("a policy evicts a pod that tolerates the taint forever: %+v, %v", p.Pods, err)
	}
}

func TestExplainSaysThatNobodyAsksEvictionResponders(t *testing.T) {
	responding := pod("a", func(p *v1.Pod) { p.Spec.EvictionResponders = []v1.EvictionResponder{{Name: "acme.io/save"}} })
	const want = "the pod has evictionResponders (acme.io/save), which neither Delete nor Evict asks: only an EvictionRequest does"
	if got := explain(responding, node("n1")).Warnings; !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
}

func TestExplainSaysThatAKubeletHasEndedThePod(t *testing.T) {
	for reason, want := range map[string]bool{"TaintToleration": true, "Evicted": false, "": false} {
		failed := pod("a", func(p *v1.Pod) { p.Status.Phase, p.Status.Reason = v1.PodFailed, reason })
		if got := explain(failed, node("n1")).Notes; noted(got, "the kubelet, not taint-manager, ended the pod") != want {
			t.Errorf("reason %q: %q", reason, got)
		}
	}
}

func TestExplainNotesAnOutageWithoutANoExecuteTaint(t *testing.T) {
	const part = "node n1 has the not-ready or unreachable taint only with effect NoSchedule"
	for _, test := range []struct {
		node  *v1.Node
		noted bool
	}{
		{node("n1", parsed("node.kubernetes.io/unreachable:NoSchedule")), true},
		{node("n1", parsed("node.kubernetes.io/unreachable:NoSchedule"), timed("node.kubernetes.io/not-ready:NoExecute", -1)), false},
		{node("n1"), false},
	} {
		if got := explain(pod("a"), test.node).Notes; noted(got, part) != test.noted {
			t.Errorf("%v: %q", test.node.Spec.Taints, got)
		}
		if got := modelOf(foresight.Focus{}, pod("a"), test.node).Pending(noon, []string{"n1"}).Spared; strings.HasPrefix(got, part) != test.noted {
			t.Errorf("pending: %v: %q", test.node.Spec.Taints, got)
		}
	}
	drain := drains(v1.TaintNodeUnreachable)
	drain.Name = "drain"
	byPolicy := judgedBy(policies(drain), foresight.Focus{}, pod("a"), node("n1", parsed("node.kubernetes.io/unreachable:NoSchedule")))
	if notes, pending := explained(byPolicy, noon).Notes, byPolicy.Pending(noon, nil).Spared; noted(notes, part) || pending != "" {
		t.Errorf("a policy has the taint: %q, %q", notes, pending)
	}
	dead := node("n1", parsed("node.kubernetes.io/unreachable:NoSchedule"))
	dead.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionUnknown, LastTransitionTime: hoursAgo(1)}}
	const advice = "If the machine is off, 'kubectl taint node n1 node.kubernetes.io/out-of-service=:NoExecute' evicts the pods at once"
	got := explain(pod("a"), dead).Notes
	if !noted(got, "node n1 (not ready since 2026-05-01T11:00:00Z) has the not-ready") || !noted(got, "With --node-eviction-rate=1 it adds none") || !noted(got, advice) {
		t.Errorf("%q", got)
	}
	dead.Spec.Taints = append(dead.Spec.Taints, parsed("node.kubernetes.io/out-of-service:NoExecute"))
	if got := explain(pod("a"), dead).Notes; !noted(got, part[:7]) || noted(got, "out-of-service=") {
		t.Errorf("the node has the taint: %q", got)
	}
}
