package policy_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func labelled(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func number(n int32) *int32 { return &n }

func taints(list ...policy.Taint) policy.Match { return policy.Match{Taints: list} }

var noSchedule = []v1.TaintEffect{v1.TaintEffectNoSchedule}

// TestWhatAMatchMatches has one part of a match in each row. The pod and its node are the same in all rows, except
// for the change.
func TestWhatAMatchMatches(t *testing.T) {
	maintenance := on(10, "example.com/maintenance", "kernel")
	outOfService := on(10, v1.TaintNodeOutOfService, "")
	drain := draining(10, "example.com/maintenance", "kernel")
	for _, c := range []struct {
		name    string
		match   policy.Match
		node    *taint.Node
		change  func(*taint.Pod)
		matches bool
	}{
		{"nothing given matches all", policy.Match{}, nil, nil, true},
		{"nothing given matches no NoSchedule taint", policy.Match{}, drain, nil, false},
		{"nothing given does not match out-of-service", policy.Match{}, nodeWith(outOfService), nil, false},
		{"an exact key matches out-of-service", taints(policy.Taint{Key: v1.TaintNodeOutOfService}), nodeWith(outOfService), nil, true},
		{"a prefix does not match out-of-service", taints(policy.Taint{KeyPrefix: "node.kubernetes.io/"}), nodeWith(outOfService), nil, false},
		{"the key", taints(policy.Taint{Key: "example.com/maintenance"}), nil, nil, true},
		{"another key", taints(policy.Taint{Key: "example.com/other"}), nil, nil, false},
		{"a key is no prefix", taints(policy.Taint{Key: "example.com/maint"}), nil, nil, false},
		{"a prefix", taints(policy.Taint{KeyPrefix: "example.com/"}), nil, nil, true},
		{"another prefix", taints(policy.Taint{KeyPrefix: "example.org/"}), nil, nil, false},
		{"the second taint", taints(policy.Taint{Key: "x"}, policy.Taint{Key: "example.com/maintenance"}), nil, nil, true},
		{"one of the values", taints(policy.Taint{Key: "example.com/maintenance", Values: []string{"firmware", "kernel"}}), nil, nil, true},
		{"none of the values", taints(policy.Taint{Key: "example.com/maintenance", Values: []string{""}}), nil, nil, false},
		{"another effect", taints(policy.Taint{Key: "example.com/maintenance", Effects: noSchedule}), nil, nil, false},
		{"the effect NoSchedule", taints(policy.Taint{Key: "example.com/maintenance", Effects: noSchedule}), drain, nil, true},
		{"effects left out are NoExecute alone", taints(policy.Taint{Key: "example.com/maintenance"}), drain, nil, false},
		{"NoSchedule and a DaemonSet's pod", taints(policy.Taint{Key: "example.com/maintenance", Effects: noSchedule}), drain, ownedBy("DaemonSet"), false},
		{"NoSchedule and a pod of its own", taints(policy.Taint{Key: "example.com/maintenance", Effects: noSchedule}), drain, ownedBy(""), false},
		{"NoExecute and a DaemonSet's pod", policy.Match{}, nil, ownedBy("DaemonSet"), true},
		{"NoSchedule and a DaemonSet's pod that is named", policy.Match{Taints: []policy.Taint{{Key: "example.com/maintenance", Effects: noSchedule}}, OwnerKinds: []string{"DaemonSet"}}, drain, ownedBy("DaemonSet"), true},
		{"NoSchedule and a pod of its own that is named", policy.Match{Taints: []policy.Taint{{Key: "example.com/maintenance", Effects: noSchedule}}, OwnerKinds: []string{"None"}}, drain, ownedBy(""), true},
		{"labels of the node", policy.Match{NodeSelector: labelled("pool", "db")}, nil, nil, true},
		{"other labels of the node", policy.Match{NodeSelector: labelled("pool", "web")}, nil, nil, false},
		{"labels of the pod", policy.Match{PodSelector: labelled("app", "db")}, nil, nil, true},
		{"other labels of the pod", policy.Match{PodSelector: labelled("app", "web")}, nil, nil, false},
		{"an expression", policy.Match{PodSelector: expression("app", "NotIn", "web")}, nil, nil, true},
		{"an expression about a label that is missing", policy.Match{PodSelector: expression("tier", "NotIn", "web")}, nil, nil, true},
		{"an expression that does not hold", policy.Match{PodSelector: expression("app", "DoesNotExist")}, nil, nil, false},
		{"the namespace", policy.Match{Namespaces: []string{"team-a", "shop"}}, nil, nil, true},
		{"another namespace", policy.Match{Namespaces: []string{"shop-2"}}, nil, nil, false},
		{"a pattern", policy.Match{Namespaces: []string{"x", "s*p"}}, nil, nil, true},
		{"a pattern that does not match", policy.Match{Namespaces: []string{"s*q"}}, nil, nil, false},
		{"labels of the namespace", policy.Match{NamespaceSelector: labelled("tier", "prod")}, nil, nil, true},
		{"other labels of the namespace", policy.Match{NamespaceSelector: labelled("tier", "test")}, nil, nil, false},
		{"labels of the namespace, but another name", policy.Match{Namespaces: []string{"x"}, NamespaceSelector: labelled("tier", "prod")}, nil, nil, false},
		{"the kind of the owner", policy.Match{OwnerKinds: []string{"Job", "StatefulSet"}}, nil, nil, true},
		{"another kind", policy.Match{OwnerKinds: []string{"Job"}}, nil, nil, false},
		{"a kind of a group", policy.Match{OwnerKinds: []string{"Job.batch"}}, nil, ownedByGroup("Job", "batch"), true},
		{"a kind of another group", policy.Match{OwnerKinds: []string{"Job.batch"}}, nil, ownedByGroup("Job", "batch.volcano.sh"), false},
		{"a kind of any group", policy.Match{OwnerKinds: []string{"Job"}}, nil, ownedByGroup("Job", "batch.volcano.sh"), true},
		{"None is no kind of an owner", policy.Match{OwnerKinds: []string{"None"}}, nil, nil, false},
		{"None is a pod without a controller", policy.Match{OwnerKinds: []string{"None"}}, nil, ownedBy(""), true},
		{"the least priority belongs to the range", policy.Match{Priority: &policy.PriorityRange{Min: number(7)}}, nil, nil, true},
		{"the most priority belongs to the range", policy.Match{Priority: &policy.PriorityRange{Max: number(7)}}, nil, nil, true},
		{"below the range", policy.Match{Priority: &policy.PriorityRange{Min: number(8)}}, nil, nil, false},
		{"above the range", policy.Match{Priority: &policy.PriorityRange{Max: number(6)}}, nil, nil, false},
	} {
		pod, node := aPod(), c.node
		pod.Priority = 7
		if c.change != nil {
			c.change(pod)
		}
		if node == nil {
			node = nodeWith(maintenance)
		}
		set := compiled(t, policies(policy.Policy{Match: c.match, Method: policy.Hold}))
		pairs := set.Pairs(pod, node, &policy.Facts{Namespaces: prod})
		if got := len(pairs) == 1 && pairs[0].Policy == "a"; got != c.matches {
			t.Errorf("%s: got %+v", c.name, pairs)
		}
	}
}

func ownedBy(kind string) func(*taint.Pod) {
	return func(p *taint.Pod) {
		p.Controller = &taint.Owner{Kind: kind, Name: "x"}
		if kind == "" {
			p.Controller = nil
		}
	}
}

func ownedByGroup(kind, group string) func(*taint.Pod) {
	return func(p *taint.Pod) { p.Controller = &taint.Owner{Kind: kind, Group: group, Name: "x"} }
}

func expression(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
}

// prod returns labels of production for every namespace except new, which is not known yet.
func prod(name string) (map[string]string, bool) {
	return map[string]string{"tier": "prod"}, name != "new"
}

func TestTheFirstPolicyThatMatchesDecides(t *testing.T) {
	key := func(k string) policy.Match { return taints(policy.Taint{Key: k}) }
	set := compiled(t, policies(
		policy.Policy{Name: "other-namespace", Match: policy.Match{Namespaces: []string{"x"}}, Method: policy.Ignore},
		policy.Policy{Name: "audits", Mode: policy.Audit, Match: key("a"), Method: policy.Ignore},
		policy.Policy{Name: "a-in-shop", Match: policy.Match{Taints: key("a").Taints, Namespaces: []string{"shop"}}, Method: policy.Hold},
		policy.Policy{Name: "any-key", Match: policy.Match{PodSelector: labelled("app", "db")}, Method: policy.Ignore},
		policy.Policy{Name: "a", Match: key("a"), Method: policy.Delete},
	))
	for key, want := range map[string]string{"a": "a-in-shop", "b": "any-key"} {
		if got := set.Pairs(aPod(), nodeWith(on(1, key, "")), nil); len(got) != 1 || got[0].Policy != want {
			t.Errorf("%s: got %+v, want %s", key, got, want)
		}
	}
	pod := aPod()
	pod.Labels = nil
	if got := set.Pairs(pod, nodeWith(on(1, "b", "")), nil); len(got) != 1 || got[0].Policy != "" || got[0].Method != policy.Delete {
		t.Errorf("a pair that no policy matches: got %+v", got)
	}
}

func TestAPodIsHeldUntilItsNamespaceIsKnown(t *testing.T) {
	set := compiled(t, policies(
		policy.Policy{Name: "jobs", Match: policy.Match{OwnerKinds: []string{"Job"}, NamespaceSelector: labelled("tier", "prod")}, Method: policy.Ignore},
		policy.Policy{Name: "audits", Mode: policy.Audit, Match: policy.Match{NamespaceSelector: labelled("tier", "prod")}, Method: policy.Ignore},
		policy.Policy{Name: "prod", Match: policy.Match{NamespaceSelector: labelled("tier", "prod")}, Method: policy.Delete},
	))
	pod, facts := aPod(), &policy.Facts{Namespaces: prod}
	pod.Namespace = "new"
	for name, f := range map[string]*policy.Facts{"not known": facts, "no namespaces at all": nil} {
		v := set.Decide(pod, nodeWith(on(1, "a", "")), f)
		if v.Evicts() || v.Held.By != policy.HeldByNamespace || v.Held.Name != "prod" {
			t.Errorf("%s: got %+v", name, v)
		}
	}
	pod.Namespace = "shop"
	if v := set.Decide(pod, nodeWith(on(1, "a", "")), facts); !v.Delete.Evict || v.Delete.Policy != "prod" {
		t.Errorf("known: got %+v", v)
	}
}
