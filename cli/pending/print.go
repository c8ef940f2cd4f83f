package pending

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
)

// write writes the answer for people.
func write(t *answer.Text, p *foresight.Pending) {
	switch {
	case len(p.Pods) == 0:
	case t.Form == answer.AsSummary:
		summarize(t, p)
	default:
		if !t.Bare {
			t.Printf("%s:\n", total(p))
		}
		t.Table(table(p, t.Wide()))
	}
}

// emptyMessage returns the answer if nothing is scheduled.
func emptyMessage(p *foresight.Pending) string {
	s := "No eviction is scheduled" + p.Focus.Words(p.OnNodes) + ", by taint-manager's rules"
	switch tainted := p.TaintedNodes; {
	case tainted == nil:
		return s + "."
	case *tainted == 0 && len(p.OnNodes) == 0:
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

// table has a row for each pod; in the wide form with the whole reason.
func table(p *foresight.Pending, wide bool) *terminal.Table {
	pods := make([]pod, len(p.Pods))
	for i := range pods {
		pods[i] = &p.Pods[i]
	}
	moment, reasonOf := func(p pod) string { return answer.Stamp(&p.Prediction) }, wholeReason
	if !wide {
		moment = func(pod pod) string { return answer.Clock(&pod.Prediction, p.At) }
		reasonOf = func(p pod) string { return answer.ShortReason(&p.Prediction) }
	}
	columns := []column{
		answer.Painted("WHEN", func(pod pod) string { return when(pod, p.At) },
			func(pod pod) terminal.Colour { return urgency(pod, p.At) }),
		answer.Texts("AT", moment),
	}
	if p.Focus.Namespace == "" {
		columns = append(columns, answer.Texts("NAMESPACE", func(p pod) string { return p.Namespace }))
	}
	columns = append(columns,
		answer.Texts("POD", func(p pod) string { return p.Name }),
		answer.Texts("NODE", func(p pod) string { return p.Node }),
		answer.Painted("STATE", func(pod pod) string { return state(pod, p.At) },
			func(p pod) terminal.Colour { return answer.StateColour(p.State) }),
		answer.Texts("TAINT", func(p pod) string { return answer.Because(&p.Prediction) }))
	if wide {
		columns = append(columns,
			answer.Texts("OWNER", func(p pod) string { return p.Owner.String() }),
			answer.Texts("SINCE FROM", func(p pod) string { return p.SinceFrom }))
	}
	if answer.ByPolicies(pods) {
		decider := func(pod pod) string { return answer.Decider(&pod.Prediction, p.At) }
		columns = append(columns, answer.Texts("POLICY", decider))
	}
	return answer.TableOf(pods, append(columns, answer.Texts("WHY", reasonOf))...)
}

// wholeReason returns the whole reason, and the outcome of the last call.
func wholeReason(p pod) string {
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
