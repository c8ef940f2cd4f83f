package plan

import (
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

type (
	pod    = *foresight.PlannedPod
	column = terminal.Column[pod]
)

// pods writes the pods of the nodes in question that go or are held; in the wide form also those that stay. Pods of
// other nodes, which go anyway, are written if the user asks for them.
func (t *text) pods() {
	shown := slices.DeleteFunc(slices.Clone(t.Pods), func(p pod) bool {
		stays := !p.Evict && p.HeldBy == ""
		return stays && !t.Wide() || !t.nodes[p.Node] && !t.anyway
	})
	table := answer.PodTable[pod]{
		At: t.At, Wide: t.Wide(), Namespace: t.Focus.Namespace,
		When: t.when, Colour: t.urgency, Short: t.why, Whole: whole,
	}
	if t.Wide() {
		table.Wider = t.wider()
	} else {
		table.Node, table.Taint = t.named()
	}
	answer.WritePods(t.Text, shown, table)
}

// named returns the node and the taint of the headline, if it names only one.
func (t *text) named() (node, taint string) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if len(t.Nodes) == 1 {
			node = n.Name
		}
		if len(n.Changes) == 1 {
			taint = strings.TrimSuffix(n.Changes[0].Taint, ":NoExecute")
		}
	}
	return node, taint
}

// wider are the columns of the wide form.
func (t *text) wider() []column {
	without := "WITHOUT THIS"
	if t.Compared != "" {
		without = "BEFORE"
	}
	return []column{
		{Heading: "OWNER", Text: func(p pod) string { return p.Owner.String() }},
		{Heading: without, Text: t.without},
		{Heading: "BUDGETS IN THE WAY", Text: func(p pod) string { return strings.Join(p.BlockedBy, ", ") }},
		{Heading: theOriginal, Text: func(p pod) string { return p.Original }},
	}
}

// theOriginal is the heading of the column that says how the original would decide otherwise.
const theOriginal = "THE ORIGINAL"

// when says when the pod goes: not now, if it waits for budgets.
func (t *text) when(p pod) string {
	when := answer.When(&p.Prediction, t.At)
	switch {
	case t.Waits(p) && !p.At.After(t.At):
		when = "waits"
	case t.Waits(p):
		when += ", waits"
	}
	return when + marks[p.Effect]
}

// marks distinguish evictions that happen anyway from those because of the change.
var marks = map[string]string{foresight.Anyway: ", anyway", foresight.Later: ", later", foresight.Sooner: ", sooner"}

// why returns the reason in short.
func (t *text) why(p pod) string {
	clauses := []string{answer.ShortReason(&p.Prediction, t.At)}
	if p.FirstMatch {
		clauses = append(clauses, "first match")
	}
	if t.Waits(p) {
		clauses = append(clauses, "waits for "+budgets(p.BlockedBy))
	}
	return strings.Join(clauses, ", ")
}

// whole returns the whole reason.
func whole(p pod) string { return strings.Join(slices.Concat([]string{p.Reason}, p.Audits), "; ") }

// without says what becomes of the pod without the changes.
func (t *text) without(p pod) string {
	switch {
	case p.Without == nil:
		return "stays"
	case p.Without.At.After(t.At):
		return "goes " + t.due(p.Without)
	}
	return t.due(p.Without)
}

// due says when an eviction is due: "in 5m", "due 5m ago".
func (t *text) due(f *foresight.Prediction) string {
	if f.At.After(t.At) {
		return answer.When(f, t.At)
	}
	return "due " + answer.When(f, t.At)
}

// urgency returns the colour of the time of an eviction.
func (t *text) urgency(p pod) terminal.Colour {
	switch {
	case !p.Evict && p.HeldBy == "":
		return terminal.Good
	case p.Evict && !p.At.After(t.At) && !t.Waits(p):
		return terminal.Bad
	}
	return terminal.Warned
}
