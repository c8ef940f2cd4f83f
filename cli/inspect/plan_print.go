package inspect

import (
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
	t := &planText{Plan: plan, style: s}
	t.all()
	if s.overflows(t.String()) {
		s.form = asSummary
		t = &planText{Plan: plan, style: s}
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
	t.Printf("At %s %s %s; by taint-manager's rules:\n", taint.Stamp(t.At), t.subject(), suggest.Listed(does, "and"))
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
	list := terminal.NewTable("NAMESPACE", "POD", "NODE", "WHEN", "AT", "TAINT", "WHY")
	if t.wide() {
		list = terminal.NewTable("NAMESPACE", "POD", "NODE", "OWNER", "WHEN", "AT", "WITHOUT THIS", "BUDGETS IN THE WAY", "THE ORIGINAL", "WHY")
	}
	for i := range t.Pods {
		if p := t.Pods[i]; p.Evict || t.wide() {
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
		return []terminal.Cell{terminal.Text(p.Namespace), terminal.Text(p.Name), terminal.Text(p.Node), moment, terminal.Text(clock(&p.Prediction, t.At)), terminal.Text(because(&p.Prediction)), terminal.Text(why(&p.Prediction))}
	}
	owner, without := "", "stays"
	if p.Owner != nil {
		owner = p.Owner.String()
	}
	if p.Without != nil {
		without = "goes " + when(p.Without, t.At)
	}
	return []terminal.Cell{
		terminal.Text(p.Namespace), terminal.Text(p.Name), terminal.Text(p.Node), terminal.Text(owner), moment, terminal.Text(stamp(&p.Prediction)), terminal.Text(without),
		terminal.Text(strings.Join(p.BlockedBy, ", ")), terminal.Text(p.Original), terminal.Text(p.Reason),
	}
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
	case !f.Evict:
		return terminal.Good
	case !f.At.After(plan.At):
		return terminal.Bad
	}
	return terminal.Warned
}

func (t *planText) totals() {
	total := t.Total
	switch all := total.Evict + total.Stay + total.Anyway; {
	case all == 0:
		t.Printf("There are no pods on %s.", t.subject())
	case total.Evict == 0:
		t.Printf("No pod would go because of this: %s", pods(total.Stay, "stays", "stay"))
		t.saved()
	default:
		t.Printf("%d of %s would go", total.Evict, pods(all, "", ""))
		t.saved()
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
	list := terminal.NewTable("NAMESPACE", "GO", "ANYWAY", "STAY")
	for _, n := range t.Namespaces {
		list.Add(terminal.Text(n.Namespace), number(n.Evict), number(n.Anyway+n.Elsewhere), number(n.Stay))
	}
	t.WriteString("\n")
	t.print(list, &t.Builder)
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
