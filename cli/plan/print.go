package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// text is a plan in a form for people.
type text struct {
	*foresight.Plan
	*answer.Text
	policies bool // whether a policy or a breaker decides about some pod
}

func newText(t *answer.Text, plan *foresight.Plan) *text {
	policies := answer.ByPolicies(plan.Pods, func(p **foresight.PlannedPod) *foresight.Prediction { return &(*p).Prediction })
	return &text{plan, t, policies}
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
		t.Table(t.namespaces(t.Namespaces))
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
		does = append(does, "gets "+suggest.Listed(set, "and"))
	}
	if len(removed) > 0 {
		does = append(does, "loses "+suggest.Listed(removed, "and"))
	}
	end := suggest.Listed(does, "and")
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
	return fmt.Sprintf("each of %d nodes (%s)", len(names), answer.Few(names))
}

func (t *text) pods() {
	headings := []string{"NAMESPACE", "POD", "NODE", "WHEN", "AT", "TAINT", "WHY"}
	if t.Wide() {
		headings = []string{"NAMESPACE", "POD", "NODE", "OWNER", "WHEN", "AT", t.other(), "BUDGETS IN THE WAY", "THE ORIGINAL", "WHY"}
	}
	if t.policies {
		headings = slices.Insert(headings, len(headings)-1, "POLICY")
	}
	list := terminal.NewTable(headings...)
	for i := range t.Pods {
		if p := t.Pods[i]; p.Evict || p.HeldBy != "" || t.Wide() {
			list.AddRow(func() []terminal.Cell { return t.row(p) })
		}
	}
	t.Table(list)
	if len(list.Rows) > 0 && t.Wide() && !t.Bare {
		t.WriteString("\n" + whereItDiffers + "\n")
	}
}

func (t *text) row(p *foresight.PlannedPod) []terminal.Cell {
	moment := terminal.Painted(answer.When(&p.Prediction, t.At)+marks[p.Effect], urgency(&p.Prediction, t.Plan))
	if !t.Wide() {
		cells := []terminal.Cell{terminal.Text(p.Namespace), terminal.Text(p.Name), terminal.Text(p.Node), moment, terminal.Text(answer.Clock(&p.Prediction, t.At)), terminal.Text(answer.Because(&p.Prediction)), terminal.Text(answer.Why(&p.Prediction))}
		return t.withPolicy(cells, &p.Prediction)
	}
	owner, without := "", "stays"
	if p.Owner != nil {
		owner = p.Owner.String()
	}
	if p.Without != nil {
		without = "goes " + answer.When(p.Without, t.At)
	}
	cells := []terminal.Cell{
		terminal.Text(p.Namespace), terminal.Text(p.Name), terminal.Text(p.Node), terminal.Text(owner), moment, terminal.Text(answer.Stamp(&p.Prediction)), terminal.Text(without),
		terminal.Text(strings.Join(p.BlockedBy, ", ")), terminal.Text(p.Original), terminal.Text(strings.Join(append([]string{p.Reason}, p.Audits...), "; ")),
	}
	return t.withPolicy(cells, &p.Prediction)
}

// withPolicy inserts the cell of the policy before the last one, if there are policies.
func (t *text) withPolicy(cells []terminal.Cell, f *foresight.Prediction) []terminal.Cell {
	if !t.policies {
		return cells
	}
	return slices.Insert(cells, len(cells)-1, terminal.Text(answer.Decider(f, t.At)))
}

// other is the heading of the column about what the changes are compared with.
func (t *text) other() string {
	if t.Compared != "" {
		return "BEFORE"
	}
	return "WITHOUT THIS"
}

// whereItDiffers explains the column about the original.
const whereItDiffers = "THE ORIGINAL is how it would decide otherwise, as far as the present state shows it; " + answer.Differences + " lists the differences."

// marks distinguish evictions that happen anyway from those because of the change.
var marks = map[string]string{foresight.Anyway: ", anyway", foresight.Later: ", later", foresight.Sooner: ", sooner", foresight.Saved: ""}

// urgency returns the colour of the time of an eviction.
func urgency(f *foresight.Prediction, plan *foresight.Plan) terminal.Colour {
	switch {
	case !f.Evict && f.HeldBy != "":
		return terminal.Warned
	case !f.Evict:
		return terminal.Good
	case !f.At.After(plan.At):
		return terminal.Bad
	}
	return terminal.Warned
}

func (t *text) totals() {
	total := t.Total
	switch all := total.Evict + total.Stay + total.Anyway + total.Held; {
	case all == 0:
		t.Printf("There are no pods on %s.", strings.TrimPrefix(t.subject(), "each of "))
	case total.Evict == 0 && total.Stay == 0 && total.Held > 0:
		t.WriteString("No pod would go because of this.")
		t.held()
	case total.Evict == 0:
		t.Printf("No pod would go because of this: %s", answer.Pods(total.Stay, "stays", "stay"))
		t.saved()
		t.held()
	default:
		t.Printf("%d of %s would go", total.Evict, answer.Count(all, "pod"))
		t.saved()
		t.held()
		if total.Stay > 0 && t.Form == answer.AsTable {
			t.WriteString(" -o wide shows those that stay, and why.")
		}
	}
	t.anyway()
	t.WriteString("\n")
}

func (t *text) namespaces(list []foresight.NamespaceTotal) *terminal.Table {
	made := terminal.NewTable(t.columns("NAMESPACE", "GO", "ANYWAY", "STAY")...)
	for _, n := range list {
		made.Add(t.counts(n.Namespace, n.Total)...)
	}
	return made
}

// columns adds the column of those held to the headings, if there are any.
func (t *text) columns(headings ...string) []string {
	if t.Total.Held > 0 {
		return append(headings, "HELD")
	}
	return headings
}

// counts returns the row of a total.
func (t *text) counts(name string, total foresight.Total) []terminal.Cell {
	cells := []terminal.Cell{terminal.Text(name), answer.Number(total.Evict), answer.Number(total.Anyway + total.Elsewhere), answer.Number(total.Stay)}
	if t.Total.Held > 0 {
		cells = append(cells, answer.Number(total.Held))
	}
	return cells
}

// anyway writes how many pods are evicted whether or not the nodes get the taints.
func (t *text) anyway() {
	if t.Total.Anyway > 0 {
		t.Printf(" %s anyway.", answer.Pods(t.Total.Anyway, "goes", "go"))
	}
	if t.Total.Elsewhere > 0 {
		t.Printf(" %s anyway from other nodes.", answer.Pods(t.Total.Elsewhere, "goes", "go"))
	}
}

// held writes how many pods are held.
func (t *text) held() {
	if t.Total.Held > 0 {
		t.Printf(" %s held.", answer.Pods(t.Total.Held, "is", "are"))
	}
}

// saved ends a sentence with the number of pods that stay only because of the plan.
func (t *text) saved() {
	if t.Total.Saved > 0 {
		t.Printf("; %d would go without this", t.Total.Saved)
	}
	t.WriteString(".")
}

// ownersTable has the owners that lose pods, or all.
func ownersTable(owners []foresight.OwnerTotal, all bool) *terminal.Table {
	list := terminal.NewTable("NAMESPACE", "OWNER", "GO", "ANYWAY", "REPLICAS", "")
	for _, o := range owners {
		if o.Evict == 0 && !all {
			continue
		}
		var loses terminal.Cell
		if o.LosesAll {
			loses = terminal.Painted("loses all its replicas", terminal.Bad)
		}
		list.Add(terminal.Text(o.Namespace), terminal.Text(o.String()), answer.Number(o.Evict), answer.Number(o.Anyway+o.Elsewhere), answer.Number(o.Replicas), loses)
	}
	return list
}

// budgets writes what PodDisruptionBudgets would block, or would if they were asked, and their table.
func (t *text) budgets(write func(*terminal.Table)) {
	if t.Total.Evict+t.Total.Anyway+t.Total.Elsewhere == 0 {
		return
	}
	t.WriteString("\n")
	switch blocked := t.Total.Blocked; {
	case t.policies:
		t.Printf("PodDisruptionBudgets would block %s of those that are evicted, not deleted, until they admit more.\n", count(t.blocked()))
	case t.EvictionMethod == string(config.MethodDelete):
		t.Printf("PodDisruptionBudgets are not asked (--eviction-method=delete). With evict they would block %s of these.\n", count(blocked))
	case blocked == 0:
		t.WriteString("PodDisruptionBudgets would block none of these (--eviction-method=evict).\n")
	default:
		t.Printf("PodDisruptionBudgets would block %d of these until they admit more (--eviction-method=evict).\n", blocked)
	}
	write(budgetsTable(t.Budgets))
}

// blocked counts the pods that budgets would block and whose method is evict.
func (t *text) blocked() (n int) {
	for _, p := range t.Pods {
		if len(p.BlockedBy) > 0 && cmp.Or(p.Method, t.EvictionMethod) == string(config.MethodEvict) {
			n++
		}
	}
	return n
}

func budgetsTable(budgets []foresight.BudgetPlan) *terminal.Table {
	list := terminal.NewTable("NAMESPACE", "BUDGET", "ADMITS NOW", "ASKED FOR", "BLOCKS")
	for _, b := range budgets {
		list.Add(terminal.Text(b.Namespace), terminal.Text(b.Name), answer.Number(b.Admits), answer.Number(b.Evictions), terminal.Painted(answer.Few(b.Blocks), terminal.Bad))
	}
	return list
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
	for i := range t.Pods {
		p := t.Pods[i]
		for _, warning := range p.Warnings {
			if about[warning] == nil {
				order = append(order, warning)
			}
			about[warning] = append(about[warning], p.Namespace+"/"+p.Name)
		}
	}
	for _, warning := range order {
		t.Printf("\n%s %s: %s.\n", t.Paint(terminal.Warned, "Warning:"), answer.Few(about[warning]), warning)
	}
}
