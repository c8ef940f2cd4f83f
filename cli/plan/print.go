package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// text is a plan in a form for people.
type text struct {
	*foresight.Plan
	*answer.Text
	policies bool // whether a policy or a breaker decides about some pod
}

func newText(t *answer.Text, plan *foresight.Plan) *text {
	return &text{plan, t, answer.ByPolicies(plan.Pods)}
}

// all writes the whole answer.
func (t *text) all() {
	if !t.Bare {
		t.title()
		t.totals()
	}
	switch {
	case t.Form == answer.AsSummary:
		t.summary()
	case t.Bare:
		t.pods()
	default:
		t.pods()
		t.Table(t.totalsTable("NAMESPACE", t.byNamespace()))
		t.Table(ownersTable(t.Owners, t.Wide()))
		t.budgets(t.Table)
		t.warnings()
	}
}

// title describes the change and its nodes.
func (t *text) title() {
	var set, removed []string
	for _, n := range t.Nodes {
		for _, c := range n.Changes {
			list := &set
			if c.Change == foresight.Removed || c.Change == foresight.Absent {
				list = &removed
			}
			if !slices.Contains(*list, c.Taint) {
				*list = append(*list, c.Taint)
			}
		}
	}
	var does []string
	if len(set) > 0 {
		does = append(does, "gets "+suggest.JoinWords(set, "and"))
	}
	if len(removed) > 0 {
		does = append(does, "loses "+suggest.JoinWords(removed, "and"))
	}
	end := suggest.JoinWords(does, "and")
	if t.Compared != "" {
		end = strings.TrimPrefix(end+", with this configuration instead of "+t.Compared, ", ")
	}
	if len(does) == 0 {
		t.Printf("At %s, on %s, %s; by taint-manager's rules:\n", taint.Stamp(t.At), t.subject(), end)
		return
	}
	t.Printf("At %s %s %s; by taint-manager's rules:\n", taint.Stamp(t.At), t.subject(), end)
}

// subject names the nodes.
func (t *text) subject() string {
	var names []string
	for _, n := range t.Nodes {
		names = append(names, n.Name)
	}
	if len(names) == 1 {
		return "node " + names[0]
	}
	return fmt.Sprintf("each of %d nodes (%s)", len(names), foresight.ShortList(names))
}

// totals writes how many pods go, stay or are held, and how many go whether or not the nodes get the taints.
func (t *text) totals() {
	total, hint := t.Total, ""
	switch all := total.Evict + total.Stay + total.Anyway + total.Held; {
	case all == 0:
		t.Printf("There are no pods on %s.", strings.TrimPrefix(t.subject(), "each of "))
	case total.Evict == 0 && total.Stay == 0 && total.Held > 0:
		t.WriteString("No pod would go because of this.")
	case total.Evict == 0:
		t.Printf("No pod would go because of this: %s", answer.Pods(total.Stay, "stays", "stay"))
		t.saved()
	default:
		t.Printf("%d of %s would go", total.Evict, foresight.Count(all, "pod"))
		t.saved()
		if total.Stay > 0 && t.Form == answer.AsTable {
			hint = " -o wide shows those that stay, and why."
		}
	}
	if total.Held > 0 {
		t.Printf(" %s held.", answer.Pods(total.Held, "is", "are"))
	}
	t.WriteString(hint)
	if total.Anyway > 0 {
		t.Printf(" %s anyway.", answer.Pods(total.Anyway, "goes", "go"))
	}
	if total.Elsewhere > 0 {
		t.Printf(" %s anyway from other nodes.", answer.Pods(total.Elsewhere, "goes", "go"))
	}
	t.WriteString("\n")
}

// saved ends a sentence with the number of pods that stay only because of the plan.
func (t *text) saved() {
	if t.Total.Saved > 0 {
		t.Printf("; %d would go without this", t.Total.Saved)
	}
	t.WriteString(".")
}

// budgets writes what PodDisruptionBudgets would block, or would if they were asked, and their table.
func (t *text) budgets(write func(*terminal.Table)) {
	if _, all := t.Evictions(); all == 0 {
		return
	}
	t.WriteString("\n")
	switch blocked := t.Total.Blocked; {
	case t.policies:
		t.Printf("PodDisruptionBudgets would block %s of those that are evicted, not deleted, until they "+
			"admit more.\n", count(t.Blocked()))
	case t.EvictionMethod == string(config.MethodDelete):
		t.Printf("PodDisruptionBudgets are not asked (--eviction-method=delete). With evict they would block "+
			"%s of these.\n", count(blocked))
	case blocked == 0:
		t.WriteString("PodDisruptionBudgets would block none of these (--eviction-method=evict).\n")
	default:
		t.Printf("PodDisruptionBudgets would block %d of these until they admit more "+
			"(--eviction-method=evict).\n", blocked)
	}
	write(budgetsTable(t.Budgets))
}

func count(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// warnings writes each warning once, with the pods that it is about.
func (t *text) warnings() {
	var order []string
	about := map[string][]string{}
	for _, p := range t.Pods {
		for _, warning := range p.Warnings {
			if about[warning] == nil {
				order = append(order, warning)
			}
			about[warning] = append(about[warning], p.String())
		}
	}
	for _, warning := range order {
		t.Printf("\n%s %s: %s.\n", t.Paint(terminal.Warned, "Warning:"), foresight.ShortList(about[warning]), warning)
	}
}
