package inspect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
)

// maxRows is the maximal number of rows of each table of a summary.
const maxRows = 10

// printMost prints the first rows of a table, and the number of the others.
func (s *style) printMost(t *terminal.Table, to *terminal.Builder) {
	if len(t.Rows) == 0 {
		return
	}
	more := len(t.Rows) - maxRows
	if more > 0 {
		t.Rows = t.Rows[:maxRows]
	}
	if !s.noHeaders {
		to.WriteString("\n")
	}
	s.print(t, to)
	if more > 0 && !s.noHeaders {
		to.Printf("... and %d more.\n", more)
	}
}

// summary counts the pods of a plan by namespace, owner, budget and node.
func (t *planText) summary() {
	namespaces := func(n foresight.NamespaceTotal) (string, foresight.Total) { return n.Namespace, n.Total }
	nodes := func(n foresight.PlannedNode) (string, foresight.Total) { return n.Name, n.Total }
	owners := slices.Clone(t.Owners)
	slices.SortStableFunc(owners, func(a, b foresight.OwnerTotal) int { return cmp.Compare(b.Evict, a.Evict) })
	t.printMost(totalsTable(t, "NAMESPACE", t.Namespaces, namespaces), &t.Builder)
	t.printMost(ownersTable(owners, false), &t.Builder)
	if t.noHeaders {
		t.printMost(budgetsTable(t.Budgets), &t.Builder)
	} else {
		t.budgets()
	}
	t.printMost(totalsTable(t, "NODE", t.Nodes, nodes), &t.Builder)
	if !t.noHeaders {
		t.WriteString("\n-o table shows each pod, -o wide also why.\n")
	}
}

// totalsTable counts pods by one attribute; the largest number of evictions comes first.
func totalsTable[T any](t *planText, by string, list []T, of func(T) (name string, total foresight.Total)) *terminal.Table {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int {
		_, one := of(a)
		_, other := of(b)
		return cmp.Compare(other.Evict, one.Evict)
	})
	made := terminal.NewTable(t.columns(by, "GO", "ANYWAY", "STAY")...)
	for _, row := range list {
		made.Add(t.counts(of(row))...)
	}
	return made
}

func number(n int) terminal.Cell { return terminal.Text(fmt.Sprint(n)) }

// group is a group of scheduled evictions.
type group struct {
	namespace, name string
	pods            int
	next            *foresight.Prediction // the earliest of them
}

// groups groups the evictions by one attribute, the largest group first. It ignores those for which of returns no
// name.
func groups(pods []foresight.PendingPod, of func(*foresight.PendingPod) (namespace, name string)) []group {
	var list []group
	at := map[[2]string]int{}
	for i := range pods {
		namespace, name := of(&pods[i])
		if name == "" {
			continue
		}
		key := [2]string{namespace, name}
		if _, ok := at[key]; !ok {
			at[key] = len(list)
			list = append(list, group{namespace, name, 0, &pods[i].Prediction}) // evictions come in the order of their times
		}
		list[at[key]].pods++
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.pods, a.pods) })
	return list
}

// summarizePending counts the evictions by namespace, owner, blocking budget, and node.
func summarizePending(text *terminal.Builder, p *foresight.Pending, s *style) {
	if !s.noHeaders {
		pendingTotal(text, p, ".\n")
	}
	for _, by := range []struct {
		heading string
		of      func(*foresight.PendingPod) (namespace, name string)
	}{
		{"NAMESPACE", func(p *foresight.PendingPod) (_, name string) { return "", p.Namespace }},
		{"OWNER", func(p *foresight.PendingPod) (namespace, name string) {
			if p.Owner == nil {
				return "", ""
			}
			return p.Namespace, p.Owner.String()
		}},
		{"BUDGET IN THE WAY", func(p *foresight.PendingPod) (namespace, name string) { return p.Namespace, p.Budget }},
		{"NODE", func(p *foresight.PendingPod) (_, name string) { return "", p.Node }},
	} {
		s.printMost(groupsTable(by.heading, groups(p.Pods, by.of), p), text)
	}
	if !s.noHeaders {
		text.WriteString("\n-o table shows each pod, -o wide also why.\n")
	}
}

func groupsTable(by string, list []group, p *foresight.Pending) *terminal.Table {
	headings := []string{by, "EVICTIONS", "NEXT", "AT"}
	within := len(list) > 0 && list[0].namespace != ""
	if within {
		headings = append([]string{"NAMESPACE"}, headings...)
	}
	made := terminal.NewTable(headings...)
	for _, g := range list {
		cells := []terminal.Cell{terminal.Text(g.name), number(g.pods), terminal.Text(when(g.next, p.At)), terminal.Text(clock(g.next, p.At))}
		if within {
			cells = append([]terminal.Cell{terminal.Text(g.namespace)}, cells...)
		}
		made.Add(cells...)
	}
	return made
}
