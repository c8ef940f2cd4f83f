package foresight

import (
	"cmp"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// budget has the fields of a PodDisruptionBudget that are needed.
type budget struct {
	namespace, name string
	selector        labels.Selector
	admits          int  // number of evictions that the budget admits now
	unready         bool // evictions of pods that are not ready do not count
}

func budgetOf(b *policyv1.PodDisruptionBudget) budget {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		selector = labels.Nothing() // as the API server does
	}
	s := &b.Status
	admits := max(0, int(s.DisruptionsAllowed))
	if s.ObservedGeneration < b.Generation {
		admits = 0 // none, until the disruption controller has observed it
	}
	always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	healthy := s.CurrentHealthy >= s.DesiredHealthy && s.DesiredHealthy > 0
	return budget{b.Namespace, b.Name, selector, admits, always || healthy}
}

// covering returns the indexes of the budgets that cover a pod, and reports whether an eviction of the pod asks them.
func covering(budgets []budget, p *pod) (indexes []int, asked bool) {
	for i, b := range budgets {
		if p.Namespace == b.namespace && b.selector.Matches(labels.Set(p.Labels)) {
			indexes = append(indexes, i)
		}
	}
	free := len(indexes) == 1 && !p.ready && budgets[indexes[0]].unready
	return indexes, p.Phase != v1.PodPending && !free
}

// BudgetPlan is the effect of a PodDisruptionBudget, in its present state, on all future evictions.
type BudgetPlan struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	// Admits is the number of evictions that the budget admits now.
	Admits int `json:"admits"`

	// Evictions is the number of evictions that ask the budget: those of the plan, and those that happen anyway on
	// any node, in the order of their times. Evictions of pods that are not running, and of some that are not
	// ready, do not ask it.
	Evictions int `json:"evictions"`

	// Blocks are the names of the pods whose eviction the budget would block.
	Blocks []string `json:"blocks"`
}

// ask asks the budgets for the evictions in the order of the pods, and returns the budgets that were asked. It adds to
// each pod the budgets that block its eviction.
func ask(budgets []budget, pods []*planned) []BudgetPlan {
	plans := make([]BudgetPlan, len(budgets))
	for i, b := range budgets {
		plans[i] = BudgetPlan{Namespace: b.namespace, Name: b.name, Admits: b.admits, Blocks: []string{}}
	}
	for _, p := range pods {
		if p.result.Evict {
			askFor(p, budgets, plans)
		}
	}
	return slices.DeleteFunc(plans, func(b BudgetPlan) bool { return b.Evictions == 0 })
}

// askFor asks for one pod. The API server does not evict a pod that two budgets cover.
func askFor(p *planned, budgets []budget, plans []BudgetPlan) {
	indexes, asked := covering(budgets, p.pod)
	if !asked {
		return
	}
	for _, i := range indexes {
		plan := &plans[i]
		plan.Evictions++
		if len(indexes) > 1 || plan.Evictions-len(plan.Blocks) > plan.Admits {
			plan.Blocks = append(plan.Blocks, p.Name)
			p.result.BlockedBy = append(p.result.BlockedBy, plan.Name)
		}
	}
}

// inNames returns the budgets in the order of their names.
func inNames(budgets map[string]budget) []budget {
	return slices.SortedFunc(maps.Values(budgets), func(a, b budget) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
}
