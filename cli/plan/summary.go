package plan

import (
	"cmp"
	"slices"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// group is a group of pods, with their number.
type group struct {
	namespace, name string
	replicas        int    // of an owner
	loses           string // what an owner loses
	foresight.Total
}

// summary counts the pods of a plan by namespace, owner, budget and node. The largest number of evictions comes first.
// A table of one namespace or node would repeat the headline.
func (t *text) summary() {
	var namespaces, owners, nodes []group
	for _, n := range t.Namespaces {
		namespaces = append(namespaces, group{name: n.Namespace, Total: n.Total})
	}
	for i := range t.Owners {
		o := &t.Owners[i]
		if o.Evict == 0 {
			continue
		}
		g := group{namespace: o.Namespace, name: o.String(), replicas: o.Replicas, Total: o.Total}
		if loses(o) {
			g.loses = "loses all"
		}
		owners = append(owners, g)
	}
	for i := range t.Nodes {
		nodes = append(nodes, group{name: t.Nodes[i].Name, Total: t.Nodes[i].Total})
	}
	if len(namespaces) > 1 {
		t.Top(t.totals("NAMESPACE", namespaces))
	}
	t.Top(t.totals("OWNER", owners,
		answer.Numbers("REPLICAS", func(g group) int { return g.replicas }),
		answer.Painted("", func(g group) string { return g.loses }, bad[group])))
	t.Top(t.budgetsTable())
	if len(nodes) > 1 {
		t.Top(t.totals("NODE", nodes))
	}
}

// budgetsTable has the budgets, with the pods that they block. Pods that are deleted by policies ask no budget, while
// others are evicted.
func (t *text) budgetsTable() *terminal.Table {
	deleted := map[string]bool{}
	if slices.ContainsFunc(t.Pods, t.AsksBudgets) {
		for _, p := range t.Pods {
			deleted[p.String()] = !t.AsksBudgets(p)
		}
	}
	blocks := func(b foresight.BudgetPlan) string {
		return foresight.ShortList(slices.DeleteFunc(slices.Clone(b.Blocks), func(name string) bool {
			return deleted[b.Namespace+"/"+name]
		}))
	}
	return answer.TableOf(t.Budgets,
		answer.Texts("NAMESPACE", func(b foresight.BudgetPlan) string { return b.Namespace }).Unless(t.Focus.Namespace),
		answer.Texts("BUDGET", func(b foresight.BudgetPlan) string { return b.Name }),
		answer.Numbers("ADMITS NOW", func(b foresight.BudgetPlan) int { return b.Admits }),
		answer.Numbers("ASKED FOR", func(b foresight.BudgetPlan) int { return b.Evictions }),
		answer.Painted("BLOCKS", blocks, bad[foresight.BudgetPlan]))
}

func bad[T any](T) terminal.Colour { return terminal.Bad }

// loses reports whether an owner loses all its replicas, as no budget keeps any.
func loses(o *foresight.OwnerTotal) bool { return o.LosesAll && o.AllWaiting == 0 }

// totals returns a table that counts the pods of groups, with the time at which the last of them goes.
func (t *text) totals(by string, list []group, more ...answer.Column[group]) *terminal.Table {
	list = slices.SortedStableFunc(slices.Values(list), func(a, b group) int { return cmp.Compare(b.Evict, a.Evict) })
	columns := []answer.Column[group]{
		answer.Texts("NAMESPACE", func(g group) string { return g.namespace }).Unless(t.Focus.Namespace),
		answer.Texts(by, func(g group) string { return g.name }),
		answer.Numbers("GO", func(g group) int { return g.Evict - g.Waiting }),
		answer.Texts("UNTIL", func(g group) string {
			if g.Last == nil {
				return ""
			}
			return t.until(g.Last)
		}),
		answer.Numbers("WAIT", func(g group) int { return g.Waiting }).Unless("0"),
		answer.Numbers("ANYWAY", func(g group) int { return g.Anyway + g.Elsewhere }).Gives(terminal.Goes),
		answer.Numbers("STAY", func(g group) int { return g.Stay }).Gives(terminal.Goes),
		answer.Numbers("HELD", func(g group) int { return g.Held }).Unless("0"),
	}
	return answer.TableOf(list, append(columns, more...)...)
}
