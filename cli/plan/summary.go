package plan

import (
	"cmp"
	"slices"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

// summary counts the pods of a plan by namespace, owner, budget and node. The largest number of evictions comes first.
func (t *text) summary() {
	t.Top(t.totalsTable("NAMESPACE", largest(t.byNamespace(), func(g *group) int { return g.Evict })))
	t.Top(ownersTable(largest(t.Owners, func(o *foresight.OwnerTotal) int { return o.Evict }), false))
	if t.Bare {
		t.Top(budgetsTable(t.Budgets))
	} else {
		t.budgets(t.Top)
	}
	t.Top(t.totalsTable("NODE", largest(t.byNode(), func(g *group) int { return g.Evict })))
	if !t.Bare {
		t.WriteString("\n-o table shows each pod, -o wide also why.\n")
	}
}

// largest returns the list with the largest numbers first.
func largest[T any](list []T, by func(*T) int) []T {
	return slices.SortedStableFunc(slices.Values(list), func(a, b T) int { return cmp.Compare(by(&b), by(&a)) })
}
