package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

type pod = *foresight.PlannedPod

// pods writes the pods of the selected nodes that are evicted or held; in the wide form also those that stay. If the
// user asks for it, it also writes the pods of other nodes, which are evicted anyway.
func (t *text) pods() {
	table := answer.PodTable{At: t.At, Namespace: t.Focus.Namespace}
	without := "WITHOUT THIS CHANGE"
	if t.Compared != "" {
		without = "BEFORE"
	}
	table.Wider = []string{"OWNER", without, t.orIfEvicted("BLOCKING BUDGETS", "BLOCKED BY"), "KUBE-CONTROLLER-MANAGER"}
	if len(t.Nodes) == 1 && !t.Wide() {
		table.Node = t.Nodes[0].Name
	}
	if d := t.Devices; d != nil && len(d.Taints) == 1 && !t.Wide() {
		table.Taint = strings.TrimSuffix(d.Taints[0], ":NoExecute")
	} else if d == nil && len(t.Nodes[0].Changes) == 1 && !t.Wide() {
		table.Taint = strings.TrimSuffix(t.Nodes[0].Changes[0].Taint, ":NoExecute")
	}
	var rows []answer.Row
	for _, p := range t.Pods {
		if (p.EvictedOrHeld() || t.Wide()) && (p.Selected || t.anyway) {
			rows = append(rows, answer.Row{
				PodRef: &p.PodRef, Prediction: &p.Prediction,
				When: t.when(p), Why: t.why(p), Open: p.Waits, Wider: t.wider(p),
			})
		}
	}
	table.Print(t.Text, rows)
}

// wider returns the cells of the columns that only the wide form has.
func (t *text) wider(p pod) []string {
	without := "stays"
	if p.Without != nil {
		without = answer.When(p.Without, t.At)
	}
	return []string{p.Owner.String(), without, strings.Join(p.BlockedBy, ", "), p.Builtin}
}

// orIfEvicted returns the heading about budgets: the first one if budgets apply to an eviction, otherwise the second.
func (t *text) orIfEvicted(does, would string) string {
	if slices.ContainsFunc(t.Pods, func(p pod) bool { return p.Asks }) {
		return does
	}
	return would + " (METHOD EVICT)"
}

// when says when the pod is evicted: not now, if budgets block it.
func (t *text) when(p pod) string {
	when := answer.When(&p.Prediction, t.At)
	switch {
	case p.NeverGoes:
		when = "never by Evict"
	case p.Waits && !p.At.After(t.At):
		when = "blocked"
	case p.Waits:
		when += ", then blocked"
	}
	switch p.Effect {
	case foresight.Anyway:
		when += ", already scheduled"
	case foresight.Later, foresight.Sooner:
		when += ", " + p.Effect
	}
	return when
}

// why returns the reason, and in the wide form all of it.
func (t *text) why(p pod) string {
	clauses := []string{answer.ShortReason(&p.Prediction, t.At)}
	if t.Wide() {
		clauses = slices.Concat([]string{p.Reason}, p.Audits)
	} else if p.Waits {
		clauses = append(clauses, "blocked by "+foresight.Verb(len(p.BlockedBy), "budget ", "budgets ")+
			flags.JoinWords(p.BlockedBy, "and"))
	}
	return strings.Join(clauses, "; ")
}

// group is a row of a summary: a group of pods.
type group struct {
	namespace, name, replicas string
	*foresight.Total
}

// summary counts the pods of a plan by namespace, owner, budget and node. A table of one namespace or node would repeat
// the headline.
func (t *text) summary() {
	var namespaces, owners, nodes []group
	for i := range t.Namespaces {
		n := &t.Namespaces[i]
		namespaces = append(namespaces, group{name: n.Namespace, Total: &n.Total})
	}
	for i := range t.Owners {
		o := &t.Owners[i]
		replicas := strconv.Itoa(o.Replicas)
		switch {
		case o.AllWaiting > 0: // a budget may keep some
		case o.LosesAll:
			replicas = "0 of " + replicas + " left"
		case o.LosesReady:
			replicas = "0 of " + replicas + " ready"
		}
		if o.Evict > 0 {
			owners = append(owners, group{o.Namespace, o.String(), replicas, &o.Total})
		}
	}
	for i := range t.Nodes {
		nodes = append(nodes, group{name: t.Nodes[i].Name, Total: &t.Nodes[i].Total})
	}
	if len(namespaces) > 1 {
		t.totals("NAMESPACE", namespaces)
	}
	t.totals("OWNER", owners)
	type budget = foresight.BudgetPlan
	answer.Top(t.Text, terminal.Table[budget]{Rows: t.Budgets, Columns: []terminal.Column[budget]{
		{Heading: "NAMESPACE", Text: func(b budget) string { return b.Namespace }, Said: t.Focus.Namespace},
		{Heading: "BUDGET", Text: func(b budget) string { return b.Name }},
		{Heading: "ALLOWED DISRUPTIONS", Text: func(b budget) string { return strconv.Itoa(b.Admits) }},
		{Heading: "TOTAL EVICTIONS", Text: func(b budget) string { return strconv.Itoa(b.Evictions) }},
		{Heading: t.orIfEvicted("BLOCKED PODS", "WOULD BE BLOCKED"), Text: func(b budget) string {
			return foresight.ShortList(b.Blocks)
		}},
	}})
	if len(nodes) > 1 {
		t.totals("NODE", nodes)
	}
	if t.Total.Elsewhere+t.Total.Stay > 0 {
		t.WriteString("\n")
	}
}

// totals writes a table that counts the pods of groups, the largest number of evictions first.
func (t *text) totals(by string, list []group) {
	number := func(heading, said string, of func(group) int) terminal.Column[group] {
		return terminal.Column[group]{
			Heading: heading, Said: said, Text: func(g group) string { return strconv.Itoa(of(g)) },
		}
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.Evict, a.Evict) })
	answer.Top(t.Text, terminal.Table[group]{Rows: list, Columns: []terminal.Column[group]{
		{Heading: "NAMESPACE", Text: func(g group) string { return g.namespace }, Said: t.Focus.Namespace},
		{Heading: by, Text: func(g group) string { return g.name }},
		number("EVICTED", "", func(g group) int { return g.Evict - g.Waiting }),
		{Heading: "DONE BY", Text: func(g group) string { return t.until(g.Total) }},
		number("BLOCKED", "0", func(g group) int { return g.Waiting }),
		number("HELD", "0", func(g group) int { return g.Held }),
		number("ALREADY SCHEDULED", "", func(g group) int { return g.Anyway + g.Elsewhere }),
		number("STAYING", "", func(g group) int { return g.Stay }),
		{Heading: "REPLICAS", Text: func(g group) string { return g.replicas }},
	}})
}
