package pending

import (
	"cmp"
	"slices"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
)

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

// summarize counts the evictions by namespace, owner, blocking budget, and node.
func summarize(t *answer.Text, p *foresight.Pending) {
	if !t.Bare {
		t.Printf("%s.\n", total(p))
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
		t.Top(groupsTable(by.heading, groups(p.Pods, by.of), p))
	}
	if !t.Bare {
		t.WriteString("\n-o table shows each pod, -o wide also why.\n")
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
		cells := []terminal.Cell{terminal.Text(g.name), answer.Number(g.pods), terminal.Text(answer.When(g.next, p.At)), terminal.Text(answer.Clock(g.next, p.At))}
		if within {
			cells = append([]terminal.Cell{terminal.Text(g.namespace)}, cells...)
		}
		made.Add(cells...)
	}
	return made
}
