package foresight

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// budget is what is kept of a PodDisruptionBudget.
type budget struct {
	namespace, name string
	selector        labels.Selector

	// admits is how many evictions it admits now.
	admits int

	// unready says that pods that are not ready are evicted without being counted.
	unready bool
}

func budgetOf(b *policyv1.PodDisruptionBudget) budget {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		selector = labels.Nothing() // so does the API server
	}
	s := &b.Status
	admits := max(0, int(s.DisruptionsAllowed))
	if s.ObservedGeneration < b.Generation {
		admits = 0 // none, until its controller has looked at it
	}
	always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	healthy := s.CurrentHealthy >= s.DesiredHealthy && s.DesiredHealthy > 0
	return budget{b.Namespace, b.Name, selector, admits, always || healthy}
}

func (b *budget) covers(p *pod) bool {
	return p.Namespace == b.namespace && b.selector.Matches(labels.Set(p.Labels))
}

// BudgetPlan is what a PodDisruptionBudget, as it stands now, says to all evictions that are to come.
type BudgetPlan struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	// Admits is how many evictions it admits now.
	Admits int `json:"admits"`

	// Evictions is how many it is asked for: those of the plan, and those that come anyway on any node, in
	// the order of their times. Pods that are not running, and some that are not ready, go without it.
	Evictions int `json:"evictions"`

	// Blocks are the names of the pods whose eviction it would block.
	Blocks []string `json:"blocks"`
}

// ask asks the budgets for evictions in the order of the pods, and returns those that are asked for
// anything. It writes into the pods which of them block it.
func ask(budgets []budget, pods []*planned) []BudgetPlan {
	plans := make([]BudgetPlan, len(budgets))
	for i, b := range budgets {
		plans[i] = BudgetPlan{Namespace: b.namespace, Name: b.name, Admits: b.admits, Blocks: []string{}}
	}
	for _, p := range pods {
		if p.Phase != v1.PodPending {
			askFor(p, budgets, plans)
		}
	}
	var asked []BudgetPlan
	for _, plan := range plans {
		if plan.Evictions > 0 {
			asked = append(asked, plan)
		}
	}
	return asked
}

// askFor asks for one pod. The API server evicts no pod that two budgets cover.
func askFor(p *planned, budgets []budget, plans []BudgetPlan) {
	var covering []int
	for i := range budgets {
		if budgets[i].covers(p.pod) {
			covering = append(covering, i)
		}
	}
	if len(covering) == 1 && !p.ready && budgets[covering[0]].unready {
		return
	}
	for _, i := range covering {
		plan := &plans[i]
		plan.Evictions++
		if len(covering) > 1 || plan.Evictions-len(plan.Blocks) > plan.Admits {
			plan.Blocks = append(plan.Blocks, p.Name)
			p.result.BlockedBy = append(p.result.BlockedBy, plan.Name)
		}
	}
}
