package pending

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
)

// print writes the answer for people.
func (o *options) print(t *answer.Text, p *foresight.Pending) {
	switch {
	case len(p.Pods) == 0:
	case t.Form == answer.AsSummary:
		summarize(t, p)
	default:
		if !t.Bare {
			t.Printf("%s:\n", total(p))
		}
		t.Table(o.table(p))
	}
}

// emptyMessage returns the answer if nothing is scheduled.
func (o *options) emptyMessage(p *foresight.Pending) string {
	s := "No eviction is scheduled" + o.focus().Words(o.nodes) + ", by taint-manager's rules"
	switch tainted := p.TaintedNodes; {
	case tainted == nil:
		return s + "."
	case *tainted == 0 && len(o.nodes) == 0:
		return s + ": no node carries a NoExecute taint."
	case *tainted == 0:
		return s + ": no NoExecute taint is there."
	case *tainted == 1:
		return s + ": no pod is affected by the taints of the one node that carries some."
	}
	return s + fmt.Sprintf(": no pod is affected by the taints of the %d nodes that carry some.", *p.TaintedNodes)
}

// total returns the number of scheduled evictions.
func total(p *foresight.Pending) string {
	_, going := p.Evictions()
	s := fmt.Sprintf("%d evictions are scheduled, by taint-manager's rules", going)
	if going == 1 {
		s = "1 eviction is scheduled, by taint-manager's rules"
	}
	if held := len(p.Pods) - going; held > 0 {
		s += fmt.Sprintf("; %s held", answer.Pods(held, "is", "are"))
	}
	return s
}

type (
	pod    = *foresight.PendingPod
	column = answer.Column[pod]
)

// table has a row for each pod.
func (o *options) table(p *foresight.Pending) *terminal.Table {
	pods := make([]pod, len(p.Pods))
	for i := range pods {
		pods[i] = &p.Pods[i]
	}
	return answer.TableOf(pods, o.columns(p.At, answer.ByPolicies(pods))...)
}

// columns are those of the table as of this time, perhaps with that of the policy.
func (o *options) columns(at time.Time, policies bool) []column {
	wide := o.output.Form == answer.AsWide
	moment := func(p pod) string { return answer.Clock(&p.Prediction, at) }
	if wide {
		moment = func(p pod) string { return answer.Stamp(&p.Prediction) }
	}
	list := []column{
		answer.Painted("WHEN", func(p pod) string { return when(p, at) },
			func(p pod) terminal.Colour { return urgency(p, at) }),
		answer.Texts("AT", moment),
	}
	if o.everywhere {
		list = append(list, answer.Texts("NAMESPACE", func(p pod) string { return p.Namespace }))
	}
	list = append(list,
		answer.Texts("POD", func(p pod) string { return p.Name }),
		answer.Texts("NODE", func(p pod) string { return p.Node }),
		answer.Painted("STATE", func(p pod) string { return state(p, at) },
			func(p pod) terminal.Colour { return answer.StateColour(p.State) }),
		answer.Texts("TAINT", func(p pod) string { return answer.Because(&p.Prediction) }))
	if wide {
		list = append(list,
			answer.Texts("OWNER", func(p pod) string { return p.Owner.String() }),
			answer.Texts("SINCE FROM", func(p pod) string { return p.SinceFrom }))
	}
	if policies {
		list = append(list, answer.Texts("POLICY", func(p pod) string { return answer.Decider(&p.Prediction, at) }))
	}
	why := func(p pod) string { return answer.Why(&p.Prediction) }
	if wide {
		why = reason
	}
	return append(list, answer.Texts("WHY", why))
}

// reason returns the whole reason, and the outcome of the last call.
func reason(p pod) string {
	clauses := slices.Concat([]string{p.Reason}, p.Audits)
	if p.Message != "" {
		clauses = append(clauses, fmt.Sprintf("after %d tries: %s", p.Attempts, answer.OneLine(p.Message)))
	}
	return strings.Join(clauses, "; ")
}

// when formats the time until the eviction, or since.
func when(p pod, at time.Time) string {
	if p.Overdue(at) {
		return answer.Lasting(*p.At, at) + " ago"
	}
	return answer.When(&p.Prediction, at)
}

func urgency(p pod, at time.Time) terminal.Colour {
	if p.At.After(at) {
		return terminal.Warned
	}
	return terminal.Bad
}

// state describes the state of the eviction, the reason, and the next step.
func state(p pod, at time.Time) string {
	s := p.State
	if p.Cause != "" {
		s += " (" + p.Cause + ")"
	}
	if p.WaitsFor != "" {
		s += ", waits for " + p.WaitsFor
	}
	if p.NextTry != nil && p.State != status.Scheduled && p.NextTry.After(at) {
		s += ", tries again in " + answer.Lasting(at, *p.NextTry)
	}
	return s
}
