package pending

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// group is a group of scheduled evictions.
type group struct {
	namespace, name string
	pods, held      int
	next            *foresight.Prediction // the earliest of them, or of those held if all are
}

// groups groups the evictions by one attribute, the largest group first. It ignores those for which of returns no
// name.
func groups(pods []foresight.PendingPod, of func(pod) (namespace, name string)) []group {
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
			list = append(list, group{namespace: namespace, name: name, next: &pods[i].Prediction})
		}
		g := &list[at[key]]
		switch {
		case !pods[i].Evict:
			g.held++
			continue
		case g.pods == 0: // evictions come in the order of their times
			g.next = &pods[i].Prediction
		}
		g.pods++
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.pods, a.pods) })
	return list
}

// summarize counts the evictions by namespace, owner, blocking budget, and node.
func summarize(t *answer.Text, p *foresight.Pending) {
	top := func(heading string, of func(pod) (namespace, name string)) {
		list := groups(p.Pods, of)
		if heading == "NAMESPACE" && len(list) == 1 || heading == "NODE" && len(p.OnNodes) == 1 {
			return // the other tables, or the question, name it
		}
		answer.Top(t, answer.MaxRows, terminal.Table[group]{Rows: list, Columns: []terminal.Column[group]{
			{Heading: "NAMESPACE", Text: func(g group) string { return g.namespace }, Said: p.Focus.Namespace},
			{Heading: heading, Text: func(g group) string { return g.name }},
			{Heading: "EVICTIONS", Text: func(g group) string { return strconv.Itoa(g.pods) }},
			{Heading: "HELD", Text: func(g group) string { return strconv.Itoa(g.held) }, Said: "0"},
			{Heading: "NEXT", Text: func(g group) string { return answer.When(g.next, p.At) }},
			{Heading: "AT", Text: func(g group) string { return answer.Clock(g.next, p.At) }},
		}})
	}
	top("NAMESPACE", func(p pod) (_, name string) { return "", p.Namespace })
	top("OWNER", func(p pod) (namespace, name string) { return p.Namespace, p.Owner.String() })
	top("BLOCKING BUDGET", func(p pod) (namespace, name string) { return p.Namespace, p.Budget })
	top("NODE", func(p pod) (_, name string) { return "", p.Node })
}
