package inspect

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

func printPlan(w io.Writer, plan *foresight.Plan, s style) error {
	switch {
	case isDocument(s.form):
		return printDocument(w, plan, s.form)
	case s.form == asName:
		return printNames(w, plan)
	}
	t := newPlanText(plan, s)
	t.all()
	if s.overflows(t.String()) {
		s.form = asSummary
		t = newPlanText(plan, s)
		t.all()
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// all writes the whole answer.
func (t *planText) all() {
	if t.noHeaders && t.form != asSummary {
		t.pods()
		return
	}
	if !t.noHeaders {
		t.title()
		t.totals()
	}
	if t.form == asSummary {
		t.summary()
		return
	}
	t.pods()
	t.namespaces()
	t.owners()
	t.budgets()
	t.warnings()
}

// printNames prints namespace and name of each pod that would be evicted, or evicted sooner, because of the change.
// It prints the namespace because a plan is about all namespaces.
func printNames(w io.Writer, plan *foresight.Plan) error {
	var s terminal.Builder
	for i := range plan.Pods {
		if p := plan.Pods[i]; p.Effect == foresight.Evicted || p.Effect == foresight.Sooner {
			s.Printf("%s/%s\n", p.Namespace, p.Name)
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// planText is a plan in the form for people.
type planText struct {
	*foresight.Plan
	style
	terminal.Builder

	policies bool // whether a policy or a breaker decides about some pod
}

func newPlanText(plan *foresight.Plan, s style) *planText {
	policies := byPolicies(plan.Pods, func(p **foresight.PlannedPod) *foresight.Prediction { return &(*p).Prediction })
	return &planText{Plan: plan, style: s, policies: policies}
}

func (t *planText) wide() bool { return t.form == asWide }

// title describes the change and its nodes.
func (t *planText) title() {
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
	switch {
	case t.Compared != "" && len(does) == 0:
		t.Printf("At %s, on %s, with this configuration instead of %s; by taint-manager's rules:\n", taint.Stamp(t.At), t.subject(), t.Compared)
	case t.Compared != "":
		t.Printf("At %s %s %s, with this configuration instead of %s; by taint-manager's rules:\n", taint.Stamp(t.At), t.subject(), suggest.Listed(does, "and"), t.Compared)
	default:
		t.Printf("At %s %s %s; by taint-manager's rules:\n", taint.Stamp(t.At), t.subject(), suggest.Listed(does, "and"))
	}
}

// subject names the nodes.
func (t *planText) subject() string {
	var names []string
	for _, n := range t.Nodes {
		names = append(names, n.Name)
	}
	if len(names) == 1 {
		return "node " + names[0]
	}
	return fmt.Sprintf("each of %d nodes (%s)", len(names), fewOf(names))
}

// fewOf lists a few of many names.
func fewOf(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + ", ..."
}

func (t *planText) pods() {
	headings := []string{"NAMESPACE", "POD", "NODE", "WHEN", "AT", "TAINT", "WHY"}
	if t.wide() {
		headings = []string{"NAMESPACE", "POD", "NODE", "OWNER", "WHEN", "AT", t.other(), "BUDGETS IN THE WAY", "THE ORIGINAL", "WHY"}
	}
	if t.policies {
		headings = slices.Insert(headings, len(headings)-1, "POLICY")
	}
	list := terminal.NewTable(headings...)
	for i := range t.Pods {
		if p := t.Pods[i]; p.Evict || p.HeldBy != "" || t.wide() {
			list.AddRow(func() []terminal.Cell { return t.row(p) })
		}
	}
	if len(list.Rows) == 0 {
		return
	}
	if !t.noHeaders {
		t.WriteString("\n")
	}
	t.print(list, &t.Builder)
	if t.wide() && !t.noHeaders {
		t.WriteString("\n" + whereItDiffers + "\n")
	}
}

func (t *planText) row(p *foresight.PlannedPod) []terminal.Cell {
	moment := terminal.Painted(when(&p.Prediction, t.At)+marks[p.Effect], urgency(&p.Prediction, t.Plan))
	if !t.wide() {
		cells := []terminal.Cell{terminal.Text(p.Namespace), terminal.Text(p.Name), terminal.Text(p.Node), moment, terminal.Text(clock(&p.Prediction, t.At)), terminal.Text(because(&p.Prediction)), terminal.Text(why(&p.Prediction))}
		return t.withPolicy(cells, &p.Prediction)
	}
	owner, without := "", "stays"
	if p.Owner != nil {
		owner = p.Owner.String()
	}
	if p.Without != nil {
		without = "goes " + when(p.Without, t.At)
	}
	cells := []terminal.Cell{
		terminal.Text(p.Namespace), terminal.Text(p.Name), terminal.Text(p.Node), terminal.Text(owner), moment, terminal.Text(stamp(&p.Prediction)), terminal.Text(without),
		terminal.Text(strings.Join(p.BlockedBy, ", ")), terminal.Text(p.Original), terminal.Text(strings.Join(append([]string{p.Reason}, p.Audits...), "; ")),
	}
	return t.withPolicy(cells, &p.Prediction)
}

// withPolicy inserts the cell of the policy before the last one, if there are policies.
func (t *planText) withPolicy(cells []terminal.Cell, f *foresight.Prediction) []terminal.Cell {
	if !t.policies {
		return cells
	}
	return slices.Insert(cells, len(cells)-1, terminal.Text(decider(f, t.At)))
}

// other is the heading of the column about what the changes are compared with.
func (t *planText) other() string {
	if t.Compared != "" {
		return "BEFORE"
	}
	return "WITHOUT THIS"
}

// whereItDiffers explains the column about the original.
const whereItDiffers = "THE ORIGINAL is how it would decide otherwise, as far as the present state shows it; " + differences + " lists the differences."

// differences is the document that lists them.
const differences = "docs/semantics.md#what-the-original-does-otherwise"

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

func (t *planText) totals() {
	total := t.Total
	switch all := total.Evict + total.Stay + total.Anyway + total.Held; {
	case all == 0:
		t.Printf("There are no pods on %s.", strings.TrimPrefix(t.subject(), "each of "))
	case total.Evict == 0 && total.Stay == 0 && total.Held > 0:
		t.WriteString("No pod would go because of this.")
		t.held()
	case total.Evict == 0:
		t.Printf("No pod would go because of this: %s", pods(total.Stay, "stays", "stay"))
		t.saved()
		t.held()
	default:
		t.Printf("%d of %s would go", total.Evict, pods(all, "", ""))
		t.saved()
		t.held()
		if total.Stay > 0 && t.form == asTable {
			t.WriteString(" -o wide shows those that stay, and why.")
		}
	}
	t.anyway()
	t.WriteString("\n")
}

func (t *planText) namespaces() {
	if len(t.Namespaces) == 0 {
		return
	}
	list := terminal.NewTable(t.columns("NAMESPACE", "GO", "ANYWAY", "STAY")...)
	for _, n := range t.Namespaces {
		list.Add(t.counts(n.Namespace, n.Total)...)
	}
	t.WriteString("\n")
	t.print(list, &t.Builder)
}

// columns adds the column of those held to the headings, if there are any.
func (t *planText) columns(headings ...string) []string {
	if t.Total.Held > 0 {
		return append(headings, "HELD")
	}
	return headings
}

// counts returns the row of a total.
func (t *planText) counts(name string, total foresight.Total) []terminal.Cell {
	cells := []terminal.Cell{terminal.Text(name), number(total.Evict), number(total.Anyway + total.Elsewhere), number(total.Stay)}
	if t.Total.Held > 0 {
		cells = append(cells, number(total.Held))
	}
	return cells
}

// anyway writes how many pods are evicted whether or not the nodes get the taints.
func (t *planText) anyway() {
	if t.Total.Anyway > 0 {
		t.Printf(" %s anyway.", pods(t.Total.Anyway, "goes", "go"))
	}
	if t.Total.Elsewhere > 0 {
		t.Printf(" %s anyway from other nodes.", pods(t.Total.Elsewhere, "goes", "go"))
	}
}

// held writes how many pods are held.
func (t *planText) held() {
	if t.Total.Held > 0 {
		t.Printf(" %s held.", pods(t.Total.Held, "is", "are"))
	}
}

// saved ends a sentence with the number of pods that stay only because of the plan.
func (t *planText) saved() {
	if t.Total.Saved > 0 {
		t.Printf("; %d would go without this", t.Total.Saved)
	}
	t.WriteString(".")
}

// pods returns a number of pods with a verb.
func pods(n int, one, many string) string {
	if n == 1 {
		return strings.TrimSpace("1 pod " + one)
	}
	return strings.TrimSpace(fmt.Sprintf("%d pods %s", n, many))
}

// owners writes the owners that lose pods; in the wide form also the others.
func (t *planText) owners() {
	if list := ownersTable(t.Owners, t.wide()); len(list.Rows) > 0 {
		t.WriteString("\n")
		t.print(list, &t.Builder)
	}
}

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
		list.Add(terminal.Text(o.Namespace), terminal.Text(o.String()), number(o.Evict), number(o.Anyway+o.Elsewhere), number(o.Replicas), loses)
	}
	return list
}

// budgets writes what PodDisruptionBudgets would block, or would if they were asked.
func (t *planText) budgets() {
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
	list := budgetsTable(t.Budgets)
	switch {
	case t.form == asSummary:
		t.printMost(list, &t.Builder)
	case len(list.Rows) > 0:
		t.WriteString("\n")
		t.print(list, &t.Builder)
	}
}

// blocked counts the pods that budgets would block and whose method is evict.
func (t *planText) blocked() (n int) {
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
		list.Add(terminal.Text(b.Namespace), terminal.Text(b.Name), number(b.Admits), number(b.Evictions), terminal.Painted(fewOf(b.Blocks), terminal.Bad))
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
func (t *planText) warnings() {
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
		t.Printf("\n%s %s: %s.\n", t.Paint(terminal.Warned, "Warning:"), fewOf(about[warning]), warning)
	}
}
