package plan

import (
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// pods writes the pods that go or are held; in the wide form also those that stay.
func (t *text) pods() {
	shown := slices.DeleteFunc(slices.Clone(t.Pods), func(p pod) bool {
		return !p.Evict && p.HeldBy == "" && !t.Wide()
	})
	t.Table(answer.TableOf(shown, t.columns()...))
	if len(shown) > 0 && t.Wide() && !t.Bare {
		t.WriteString("\nTHE ORIGINAL is how it would decide otherwise, as far as the present " +
			"state shows it; " + answer.Differences + " lists the differences.\n")
	}
}

type (
	pod    = *foresight.PlannedPod
	column = answer.Column[pod]
)

// columns are those of the table of pods.
func (t *text) columns() []column {
	list := []column{
		answer.Texts("NAMESPACE", func(p pod) string { return p.Namespace }),
		answer.Texts("POD", func(p pod) string { return p.Name }),
		answer.Texts("NODE", func(p pod) string { return p.Node }),
	}
	when := answer.Painted("WHEN", func(p pod) string { return answer.When(&p.Prediction, t.At) + marks[p.Effect] },
		t.urgency)
	if t.Wide() {
		without := "WITHOUT THIS"
		if t.Compared != "" {
			without = "BEFORE"
		}
		list = append(list,
			answer.Texts("OWNER", func(p pod) string { return p.Owner.String() }), when,
			answer.Texts("AT", func(p pod) string { return answer.Stamp(&p.Prediction) }),
			answer.Texts(without, t.without),
			answer.Texts("BUDGETS IN THE WAY", func(p pod) string { return strings.Join(p.BlockedBy, ", ") }),
			answer.Texts("THE ORIGINAL", func(p pod) string { return p.Original }))
	} else {
		list = append(list, when,
			answer.Texts("AT", func(p pod) string { return answer.Clock(&p.Prediction, t.At) }),
			answer.Texts("TAINT", func(p pod) string { return answer.Because(&p.Prediction) }))
	}
	if t.policies {
		list = append(list, answer.Texts("POLICY", func(p pod) string { return answer.Decider(&p.Prediction, t.At) }))
	}
	return append(list, answer.Texts("WHY", t.reason))
}

// reason returns the reason in short; in the wide form the whole of it.
func (t *text) reason(p pod) string {
	if t.Wide() {
		return strings.Join(slices.Concat([]string{p.Reason}, p.Audits), "; ")
	}
	return answer.ShortReason(&p.Prediction)
}

// without says what becomes of the pod without the changes.
func (t *text) without(p pod) string {
	if p.Without == nil {
		return "stays"
	}
	return "goes " + answer.When(p.Without, t.At)
}

// marks distinguish evictions that happen anyway from those because of the change.
var marks = map[string]string{foresight.Anyway: ", anyway", foresight.Later: ", later", foresight.Sooner: ", sooner"}

// urgency returns the colour of the time of an eviction.
func (t *text) urgency(p pod) terminal.Colour {
	switch {
	case !p.Evict && p.HeldBy == "":
		return terminal.Good
	case p.Evict && !p.At.After(t.At):
		return terminal.Bad
	}
	return terminal.Warned
}

// group is the name of a group of pods, with their number.
type group struct {
	name string
	foresight.Total
}

func (t *text) byNamespace() (list []group) {
	for _, n := range t.Namespaces {
		list = append(list, group{n.Namespace, n.Total})
	}
	return list
}

func (t *text) byNode() (list []group) {
	for _, n := range t.Nodes {
		list = append(list, group{n.Name, n.Total})
	}
	return list
}

// totalsTable counts the pods of groups.
func (t *text) totalsTable(by string, list []group) *terminal.Table {
	columns := []answer.Column[group]{
		answer.Texts(by, func(g group) string { return g.name }),
		answer.Numbers("GO", func(g group) int { return g.Evict }),
		answer.Numbers("ANYWAY", func(g group) int { return g.Anyway + g.Elsewhere }),
		answer.Numbers("STAY", func(g group) int { return g.Stay }),
	}
	if t.Total.Held > 0 {
		columns = append(columns, answer.Numbers("HELD", func(g group) int { return g.Held }))
	}
	return answer.TableOf(list, columns...)
}

// ownersTable has the owners that lose pods, or all.
func ownersTable(owners []foresight.OwnerTotal, all bool) *terminal.Table {
	shown := slices.DeleteFunc(slices.Clone(owners), func(o foresight.OwnerTotal) bool { return o.Evict == 0 && !all })
	return answer.TableOf(shown,
		answer.Texts("NAMESPACE", func(o foresight.OwnerTotal) string { return o.Namespace }),
		answer.Texts("OWNER", func(o foresight.OwnerTotal) string { return o.String() }),
		answer.Numbers("GO", func(o foresight.OwnerTotal) int { return o.Evict }),
		answer.Numbers("ANYWAY", func(o foresight.OwnerTotal) int { return o.Anyway + o.Elsewhere }),
		answer.Numbers("REPLICAS", func(o foresight.OwnerTotal) int { return o.Replicas }),
		answer.Painted("", losesAll, func(foresight.OwnerTotal) terminal.Colour { return terminal.Bad }))
}

func losesAll(o foresight.OwnerTotal) string {
	if o.LosesAll {
		return "loses all its replicas"
	}
	return ""
}

func budgetsTable(budgets []foresight.BudgetPlan) *terminal.Table {
	return answer.TableOf(budgets,
		answer.Texts("NAMESPACE", func(b foresight.BudgetPlan) string { return b.Namespace }),
		answer.Texts("BUDGET", func(b foresight.BudgetPlan) string { return b.Name }),
		answer.Numbers("ADMITS NOW", func(b foresight.BudgetPlan) int { return b.Admits }),
		answer.Numbers("ASKED FOR", func(b foresight.BudgetPlan) int { return b.Evictions }),
		answer.Painted("BLOCKS", func(b foresight.BudgetPlan) string { return foresight.ShortList(b.Blocks) },
			func(foresight.BudgetPlan) terminal.Colour { return terminal.Bad }))
}
