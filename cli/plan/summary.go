package plan

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

type budget = foresight.BudgetPlan

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
		t.totals("NAMESPACE", namespaces)
	}
	t.totals("OWNER", owners,
		terminal.Column[group]{Heading: "REPLICAS", Give: terminal.Stays, Text: func(g group) string {
			return strconv.Itoa(g.replicas)
		}},
		terminal.Column[group]{Text: func(g group) string { return g.loses }, Colour: bad[group]})
	t.budgetsTable()
	if len(nodes) > 1 {
		t.totals("NODE", nodes)
	}
}

// budgetsTable writes the budgets, with the pods that they block. Pods that policies delete ask no budget, while others
// are evicted.
func (t *text) budgetsTable() {
	deleted := map[string]bool{}
	if slices.ContainsFunc(t.Pods, t.AsksBudgets) {
		for _, p := range t.Pods {
			deleted[p.String()] = !t.AsksBudgets(p)
		}
	}
	blocks := func(b budget) string {
		return foresight.ShortList(slices.DeleteFunc(slices.Clone(b.Blocks), func(name string) bool {
			return deleted[b.Namespace+"/"+name]
		}))
	}
	answer.Top(t.Text, answer.MaxRows, terminal.Table[budget]{Rows: t.Budgets, Columns: []terminal.Column[budget]{
		{Heading: "NAMESPACE", Text: func(b budget) string { return b.Namespace }, Said: t.Focus.Namespace},
		{Heading: "BUDGET", Text: func(b budget) string { return b.Name }},
		{Heading: "ADMITS NOW", Give: terminal.Stays, Text: func(b budget) string { return strconv.Itoa(b.Admits) }},
		{Heading: "ASKED FOR", Give: terminal.Stays, Text: func(b budget) string { return strconv.Itoa(b.Evictions) }},
		{Heading: "BLOCKS", Text: blocks, Colour: bad[budget]},
	}})
}

func bad[T any](T) terminal.Colour { return terminal.Bad }

// loses reports whether an owner loses all its replicas, as no budget keeps any.
func loses(o *foresight.OwnerTotal) bool { return o.LosesAll && o.AllWaiting == 0 }

// totals writes a table that counts the pods of groups, with the time at which the last of them goes.
func (t *text) totals(by string, list []group, more ...terminal.Column[group]) {
	number := func(heading string, give terminal.Give, said string, of func(group) int) terminal.Column[group] {
		text := func(g group) string { return strconv.Itoa(of(g)) }
		return terminal.Column[group]{Heading: heading, Give: give, Said: said, Text: text}
	}
	until := func(g group) string {
		if g.Last == nil {
			return ""
		}
		return t.until(g.Last)
	}
	list = slices.SortedStableFunc(slices.Values(list), func(a, b group) int { return cmp.Compare(b.Evict, a.Evict) })
	answer.Top(t.Text, answer.MaxRows, terminal.Table[group]{Rows: list, Columns: append([]terminal.Column[group]{
		{Heading: "NAMESPACE", Text: func(g group) string { return g.namespace }, Said: t.Focus.Namespace},
		{Heading: by, Text: func(g group) string { return g.name }},
		number("GO", terminal.Stays, "", func(g group) int { return g.Evict - g.Waiting }),
		{Heading: "UNTIL", Text: until},
		number("WAIT", terminal.Stays, "0", func(g group) int { return g.Waiting }),
		number("ANYWAY", terminal.Goes, "", func(g group) int { return g.Anyway + g.Elsewhere }),
		number("STAY", terminal.Goes, "", func(g group) int { return g.Stay }),
		number("HELD", terminal.Stays, "0", func(g group) int { return g.Held }),
	}, more...)})
}
