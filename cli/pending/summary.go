package pending

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// attribute is the attribute that a group has in common. The UID tells apart owners of one kind and name.
type attribute struct{ namespace, name, uid string }

// group is a group of scheduled evictions.
type group struct {
	attribute
	pods, held int
	next       *foresight.Prediction // the earliest eviction that is not held; if all are held, the earliest
}

// groups groups the evictions by one attribute, the largest group first. It ignores evictions for which the function
// returns no name.
func groups(pods []pod, of func(pod) attribute) []group {
	var list []group
	at := map[attribute]int{}
	for _, p := range pods {
		key := of(p)
		if key.name == "" {
			continue
		}
		if _, ok := at[key]; !ok {
			at[key] = len(list)
			list = append(list, group{attribute: key, next: &p.Prediction})
		}
		g := &list[at[key]]
		switch {
		case !p.Evict:
			g.held++
			continue
		case g.pods == 0: // evictions come in the order of their times
			g.next = &p.Prediction
		}
		g.pods++
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.pods, a.pods) })
	return list
}

// summarize counts the evictions by namespace, owner, blocking budget, and node.
func summarize(t *answer.Text, p *foresight.Pending) {
	top := func(heading string, of func(pod) attribute) {
		list := groups(p.Pods, of)
		if heading == "NAMESPACE" && len(list) == 1 || heading == "NODE" && len(p.OnNodes) == 1 {
			return // the other tables, or the question, name it
		}
		answer.Top(t, terminal.Table[group]{Rows: list, Columns: []terminal.Column[group]{
			{Heading: "NAMESPACE", Text: func(g group) string { return g.namespace }, Said: p.Focus.Namespace},
			{Heading: heading, Text: func(g group) string { return g.name }},
			{Heading: "EVICTIONS", Text: func(g group) string { return strconv.Itoa(g.pods) }},
			{Heading: "HELD", Text: func(g group) string { return strconv.Itoa(g.held) }, Said: "0"},
			{Heading: "NEXT", Text: func(g group) string { return answer.When(g.next, p.At) }},
			{Heading: "AT", Text: func(g group) string { return answer.Clock(g.next, p.At) }},
		}})
	}
	top("NAMESPACE", func(p pod) attribute { return attribute{name: p.Namespace} })
	top("OWNER", func(p pod) attribute {
		return attribute{p.Namespace, p.Owner.String(), cmp.Or(p.Owner, new(foresight.Owner)).UID}
	})
	top("BLOCKING BUDGET", func(p pod) attribute { return attribute{p.Namespace, p.Budget, ""} })
	top("NODE", func(p pod) attribute { return attribute{name: p.Node} })
}
