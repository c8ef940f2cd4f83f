package foresight_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

func unhealthy(p policyv1.UnhealthyPodEvictionPolicyType) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = &p }
}

func healthy(current, desired int32) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) {
		b.Status.CurrentHealthy, b.Status.DesiredHealthy = current, desired
	}
}

func expects(pods int32) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Status.ExpectedPods = pods }
}

func selecting(s *metav1.LabelSelector) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = s }
}

func elsewhere(b *policyv1.PodDisruptionBudget) { b.Namespace = "bank" }

func TestWhatBudgetsWouldBlockIsSaid(t *testing.T) {
	web := labelled("app", "web")
	three := []any{pod("a", web), pod("b", web), pod("c", web)}
	for _, c := range []struct {
		name    string
		objects []any
		want    string // budget: admitted evictions of those asked for, and the pods that are blocked
	}{
		{"enough", append(three, budget("web", 3)), "web: 3 admitted, 3 asked for"},
		{"too few: the first ones go", append(three, budget("web", 1)), "web: 1 admitted, 3 asked for, blocks b c"},
		{"none", append(three, budget("web", 0)), "web: 0 admitted, 3 asked for, blocks a b c"},
		{"less than none", append(three, budget("web", -2)), "web: 0 admitted, 3 asked for, blocks a b c"},
		{"the first to go comes first", []any{pod("a", web, tolerates("gpu", 60)), pod("b", web), budget("web", 1)}, "web: 1 admitted, 2 asked for, blocks a"},
		{"a pod that stays asks for nothing", []any{pod("a", web, tolerates("gpu", -1)), pod("b", web), budget("web", 1)}, "web: 1 admitted, 1 asked for"},
		{"other labels", append(three, budget("api", 0)), ""},
		{"another namespace", append(three, budget("web", 0, elsewhere)), ""},
		{"an empty selector covers the namespace", []any{pod("a"), budget("all", 0, selecting(&metav1.LabelSelector{}))}, "all: 0 admitted, 1 asked for, blocks a"},
		{"no selector covers nothing", []any{pod("a"), budget("none", 0, selecting(nil))}, ""},
		{"a selector that is none covers nothing", []any{pod("a", web), budget("bad", 0, selecting(&metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}},
		}))}, ""},
		{"two budgets for one pod", []any{pod("a", web), budget("web", 9), budget("all", 9, selecting(&metav1.LabelSelector{}))}, "all: 9 admitted, 1 asked for, blocks a; web: 9 admitted, 1 asked for, blocks a"},
		{"a pod that two block takes nothing from either", []any{
			pod("a", web, labelled("x", "y")), pod("b", web), budget("web", 1),
			budget("xy", 1, selecting(&metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}})),
		}, "web: 1 admitted, 2 asked for, blocks a; xy: 1 admitted, 1 asked for, blocks a"},
		{"two budgets for an unready pod", []any{pod("a", web, unready), budget("web", 9), budget("all", 9, healthy(2, 2), selecting(&metav1.LabelSelector{}))}, "all: 9 admitted, 1 asked for, blocks a; web: 9 admitted, 1 asked for, blocks a"},
		{"an unready pod without a budget", []any{pod("a", unready), budget("web", 0)}, ""},
		{"a pending pod does not ask", []any{pod("a", web, in(v1.PodPending)), budget("web", 0)}, ""},
		{"an unready pod of a healthy application does not ask", []any{pod("a", web, unready), budget("web", 0, healthy(2, 2))}, ""},
		{"an unready pod of an unhealthy application asks", []any{pod("a", web, unready), budget("web", 0, healthy(1, 2))}, "web: 0 admitted, 1 asked for, blocks a"},
		{"an unready pod of an application that needs none asks", []any{pod("a", web, unready), budget("web", 0, healthy(0, 0))}, "web: 0 admitted, 1 asked for, blocks a"},
		{"an unready pod with the policy AlwaysAllow does not ask", []any{pod("a", web, unready), budget("web", 0, healthy(1, 2), unhealthy(policyv1.AlwaysAllow))}, ""},
		{"a ready pod with the policy AlwaysAllow asks", []any{pod("a", web), budget("web", 0, unhealthy(policyv1.AlwaysAllow))}, "web: 0 admitted, 1 asked for, blocks a"},
		{"the policy IfHealthyBudget is the default", []any{pod("a", web, unready), budget("web", 0, healthy(1, 2), unhealthy(policyv1.IfHealthyBudget))}, "web: 0 admitted, 1 asked for, blocks a"},
		{"a budget that its controller has not looked at admits none", []any{pod("a", web), budget("web", 5, func(b *policyv1.PodDisruptionBudget) { b.Generation = 1 })}, "web: 0 admitted, 1 asked for, blocks a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(ask("gpu:NoExecute"), append([]any{node("n1")}, c.objects...)...)
			var got []string
			blocked := map[string]bool{}
			for _, b := range p.Budgets {
				line := fmt.Sprintf("%s: %d admitted, %d asked for", b.Name, b.Admits, b.Evictions)
				if len(b.Blocks) > 0 {
					line += ", blocks " + strings.Join(b.Blocks, " ")
				}
				for _, name := range b.Blocks {
					blocked[name] = true
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, pod := range p.Pods {
				if blocked[pod.Name] != (len(pod.BlockedBy) > 0) {
					t.Errorf("pod %s is blocked by %v", pod.Name, pod.BlockedBy)
				}
			}
			if p.Total.Blocked != len(blocked) {
				t.Errorf("%d are blocked in total, want %d", p.Total.Blocked, len(blocked))
			}
		})
	}
}

// The taint unreachable makes the node's ready pods not ready, so a budget has fewer healthy pods, and may permit nothing.
func TestAPlanForADeadNodeJudgesBudgetsAsTheyWillBe(t *testing.T) {
	web := labelled("app", "web")
	for _, test := range []struct {
		name    string
		taint   string
		objects []any
		want    string // admitted evictions, those asked for and those blocked
	}{
		{"a budget of all replicas", "node.kubernetes.io/unreachable:NoExecute", []any{pod("a", web), pod("b", web, on("n2")), budget("web", 0, healthy(2, 2))}, "0 1 1"},
		{"one that has a replica to spare", "node.kubernetes.io/unreachable:NoExecute", []any{pod("a", web), budget("web", 1, healthy(3, 2))}, ""},
		{"one that lacks two then", "node.kubernetes.io/not-ready:NoExecute", []any{pod("a", web), pod("b", web), pod("c", web), budget("web", 2, healthy(4, 2))}, "0 3 3"},
		{"with NoSchedule, by which no pod goes", "node.kubernetes.io/unreachable:NoSchedule", []any{pod("a", web), budget("web", 0, healthy(2, 2))}, ""},
		{"another taint", "gpu:NoExecute", []any{pod("a", web), budget("web", 1, healthy(3, 2))}, "1 1 0"},
		{"a pod that was not ready before", "node.kubernetes.io/unreachable:NoExecute", []any{pod("a", web, unready), budget("web", 0, healthy(2, 2))}, ""},
	} {
		got := ""
		for _, b := range plan(ask(test.taint), append([]any{node("n1"), node("n2")}, test.objects...)...).Budgets {
			got += fmt.Sprint(b.Admits, b.Evictions, len(b.Blocks))
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A pod never goes by Evict if a budget permits nothing however healthy its pods are, or if two budgets select it. Others
// wait for their turn. A deadline for the deletion ends the wait.
func TestPodsThatNeverGoByEvictAreApartFromThoseWhoseTurnComes(t *testing.T) {
	none := func(of string) func(*policyv1.PodDisruptionBudget) {
		return func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = new(intstr.Parse(of)) }
	}
	needs := func(desired, expected int32) func(*policyv1.PodDisruptionBudget) {
		return func(b *policyv1.PodDisruptionBudget) {
			b.Status.DesiredHealthy, b.Status.ExpectedPods = desired, expected
		}
	}
	failed := func(b *policyv1.PodDisruptionBudget) {
		b.Status.Conditions = []metav1.Condition{{Reason: policyv1.SyncFailedReason}}
	}
	evict := policy.Policy{Name: "p", Match: policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}, Method: policy.Evict}
	later := evict
	later.DeleteAfter = &metav1.Duration{Duration: time.Hour}
	for _, c := range []struct {
		name    string
		by      policy.Policy
		budgets []any
		want    bool
	}{
		{"maxUnavailable is 0", evict, []any{budget("web", 0, none("0"))}, true},
		{"maxUnavailable is 0%", evict, []any{budget("web", 0, none("0%"))}, true},
		{"maxUnavailable is 1", evict, []any{budget("web", 0, none("1"))}, false},
		{"minAvailable is all", evict, []any{budget("web", 0, needs(3, 3))}, true},
		{"minAvailable is more than all", evict, []any{budget("web", 0, needs(4, 3))}, true},
		{"minAvailable is less than all", evict, []any{budget("web", 0, needs(2, 3))}, false},
		{"the budget selects no pod yet", evict, []any{budget("web", 0, needs(1, 0))}, false},
		{"its pods can't be counted", evict, []any{budget("web", 0, failed)}, true},
		{"two budgets select it", evict, []any{budget("web", 1), budget("all", 1, selecting(&metav1.LabelSelector{}))}, true},
		{"it is deleted later", later, []any{budget("web", 0, none("0"))}, false},
	} {
		m := judgedBy(policies(c.by), foresight.Focus{}, append(c.budgets, node("n1"), pod("a", labelled("app", "web")))...)
		p, err := m.Plan(ask("gpu:NoExecute"))
		if err != nil || p.Total.Waiting != 1 || p.Pods[0].NeverGoes != c.want || p.Total.Never == 1 != c.want {
			t.Errorf("%s: %v, %+v", c.name, err, p.Total)
		}
	}
}

func TestAPodThatGoesAnywayWaitsForBudgetsToo(t *testing.T) {
	web := labelled("app", "web")
	m := judgedBy(rulesOf(policy.Config{Method: policy.Evict}), foresight.Focus{}, node("n1"), node("n2", timed("disk:NoExecute", 0)),
		budget("web", 1), pod("here", web), pod("there", web, on("n2"), tolerates("disk", 120)))
	p, err := m.Plan(ask("gpu:NoExecute"))
	if err != nil || p.Total.Blocked != 1 || p.Total.Waiting != 0 || p.Total.AllWaiting != 1 {
		t.Errorf("%v, total %+v", err, p.Total)
	}
}
