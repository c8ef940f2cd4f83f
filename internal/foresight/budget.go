package foresight

import (
	"cmp"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/taint"
)

// BudgetPlan is the effect of a PodDisruptionBudget, in its current state, on all future evictions.
type BudgetPlan struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Admits is the number of evictions that the budget allows, counting pods on dead nodes as not ready.
	Admits int  `json:"admits"`
	Never  bool `json:"never,omitempty"` // it permits no disruption at all, however healthy its pods are

	// Evictions is the number of evictions that the budget applies to: those of the plan, and those already scheduled
	// on any node. It does not apply to pods that are not running, nor to some that are not ready.
	Evictions int      `json:"evictions"`
	Blocks    []string `json:"blocks"` // names of the pods whose eviction the budget would block

	selector         labels.Selector
	masked           bool // the selector has a masked value
	healthy, desired int  // numbers of pods
	expected         int  // number of pods, healthy or not; 0 if they were not counted
	always           bool // the budget never applies to pods that are not ready
}

// sparesUnready reports whether the budget does not apply to evictions of pods that are not ready.
func (b *BudgetPlan) sparesUnready() bool { return b.always || b.desired > 0 && b.healthy >= b.desired }

// budgetOf returns a budget without counted evictions.
func budgetOf(b *policyv1.PodDisruptionBudget) BudgetPlan {
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
	return BudgetPlan{
		Namespace: b.Namespace, Name: b.Name, Admits: admits, Never: admits == 0 && permitsNone(b), Blocks: []string{},
		selector: selector, always: always,
		healthy: int(s.CurrentHealthy), desired: int(s.DesiredHealthy), expected: int(s.ExpectedPods),
	}
}

// permitsNone reports whether a budget permits no disruption even if all its pods are healthy, or whether the
// disruption controller can't count its pods.
func permitsNone(b *policyv1.PodDisruptionBudget) bool {
	none, s := b.Spec.MaxUnavailable, &b.Status
	failed := func(c metav1.Condition) bool { return c.Reason == policyv1.SyncFailedReason }
	return none != nil && (none.String() == "0" || none.String() == "0%") ||
		s.ExpectedPods > 0 && s.DesiredHealthy >= s.ExpectedPods || slices.ContainsFunc(s.Conditions, failed)
}

// budgetsInOrder returns copies of the budgets, in the order of their names.
func (m *Model) budgetsInOrder() []BudgetPlan {
	list := slices.AppendSeq([]BudgetPlan{}, maps.Values(m.budgets)) // JSON has [], not null
	slices.SortFunc(list, func(a, b BudgetPlan) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// budgetsWith returns copies of the budgets as they will be once nodes have these taints: ready pods of a node with an
// outage become not ready.
func (m *Model) budgetsWith(taints map[string][]v1.Taint) []BudgetPlan {
	budgets := m.budgetsInOrder()
	for _, p := range m.pods {
		if !p.Ready || !p.replica() || !dead(taints[p.Node]) {
			continue
		}
		these, _ := covering(budgets, p, false)
		for _, b := range these {
			b.healthy, b.Admits = b.healthy-1, max(0, b.Admits-1)
		}
	}
	return budgets
}

// dead reports whether pods of a node with these taints count as not ready.
func dead(taints []v1.Taint) bool { return taint.OutageIn(taints, v1.TaintEffectNoExecute) }

// lost reports whether the pod counts as a replica of its owner, and is not ready because its node is dead.
func (m *Model) lost(p *pod) bool {
	n := m.nodes[p.Node]
	return !p.Ready && p.replica() && n != nil && dead(n.Taints)
}

// requiresDead reports whether the budget requires pods of dead nodes: it can't recover while these pods exist.
func (m *Model) requiresDead(b *BudgetPlan) bool {
	healthy := b.expected // at most this many
	for _, p := range m.pods {
		if m.lost(p) && b.covers(p) {
			healthy--
		}
	}
	return b.expected > 0 && healthy < b.desired
}

func (b *BudgetPlan) covers(p *pod) bool {
	return p.Namespace == b.Namespace && b.selector.Matches(labels.Set(p.Labels))
}

// covering returns the budgets that cover a pod, and reports whether they apply to an eviction of the pod.
func covering(budgets []BudgetPlan, p *pod, ready bool) (these []*BudgetPlan, asked bool) {
	for i := range budgets {
		if b := &budgets[i]; b.covers(p) {
			these = append(these, b)
		}
	}
	free := len(these) == 1 && !ready && these[0].sparesUnready()
	return these, p.Phase != v1.PodPending && !free
}

// addBudgets counts the evictions against the budgets, in the order of the pods, and adds the budgets with evictions to
// the plan, and to each pod those that block its eviction. The API server does not evict a pod that two budgets cover.
// The taints are those of the nodes that change.
func (p *Plan) addBudgets(budgets []BudgetPlan, taints map[string][]v1.Taint) {
	for _, pod := range p.Pods {
		these, asked := covering(budgets, pod.of, pod.of.Ready && !dead(taints[pod.Node]))
		if !asked || !pod.Evict || pod.DeletedBy != "" {
			these = nil
		}
		for _, b := range these {
			b.Evictions++
			if len(these) > 1 || b.Evictions-len(b.Blocks) > b.Admits {
				b.Blocks = append(b.Blocks, pod.Name)
				pod.BlockedBy = append(pod.BlockedBy, b.Name)
				pod.Never = pod.Never || b.Never || len(these) > 1
			}
		}
		pod.Asks = pod.Evict && cmp.Or(pod.Method, p.EvictionMethod) == evictMethod
		pod.Waits = pod.Asks && len(pod.BlockedBy) > 0
		pod.NeverGoes = pod.Waits && pod.Never && pod.DeleteAt == nil
	}
	p.Budgets = slices.DeleteFunc(budgets, func(b BudgetPlan) bool { return b.Evictions == 0 })
}
