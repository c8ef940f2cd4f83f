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

// table has a row for each pod.
func (o *options) table(p *foresight.Pending) *terminal.Table {
	r := rows{at: p.At, wide: o.output.Form == answer.AsWide, everywhere: o.everywhere}
	r.policies = answer.ByPolicies(p.Pods, func(p *foresight.PendingPod) *foresight.Prediction { return &p.Prediction })
	made := terminal.NewTable(r.headings()...)
	for i := range p.Pods {
		made.AddRow(func() []terminal.Cell { return r.row(&p.Pods[i]) })
	}
	return made
}

// rows shows people what is scheduled at a moment.
type rows struct {
	at               time.Time
	wide, everywhere bool
	policies         bool // whether a policy or a breaker decides about some pod
}

func (r rows) headings() []string {
	list := []string{"WHEN", "AT"}
	if r.everywhere {
		list = append(list, "NAMESPACE")
	}
	list = append(list, "POD", "NODE", "STATE", "TAINT")
	if r.wide {
		list = append(list, "OWNER", "SINCE FROM")
	}
	if r.policies {
		list = append(list, "POLICY")
	}
	return append(list, "WHY")
}

func (r rows) row(p *foresight.PendingPod) []terminal.Cell {
	moment, why := answer.Clock(&p.Prediction, r.at), answer.Why(&p.Prediction)
	if r.wide {
		moment, why = answer.Stamp(&p.Prediction), reason(p)
	}
	cells := []terminal.Cell{terminal.Painted(r.when(p), r.urgency(p)), terminal.Text(moment)}
	if r.everywhere {
		cells = append(cells, terminal.Text(p.Namespace))
	}
	cells = append(cells, terminal.Text(p.Name), terminal.Text(p.Node), terminal.Painted(r.state(p), answer.StateColour(p.State)), terminal.Text(answer.Because(&p.Prediction)))
	if r.wide {
		owner := ""
		if p.Owner != nil {
			owner = p.Owner.String()
		}
		cells = append(cells, terminal.Text(owner), terminal.Text(p.SinceFrom))
	}
	if r.policies {
		cells = append(cells, terminal.Text(answer.Decider(&p.Prediction, r.at)))
	}
	return append(cells, terminal.Text(why))
}

// reason returns the whole reason, and the outcome of the last call.
func reason(p *foresight.PendingPod) string {
	clauses := slices.Concat([]string{p.Reason}, p.Audits)
	if p.Message != "" {
		clauses = append(clauses, fmt.Sprintf("after %d tries: %s", p.Attempts, answer.OneLine(p.Message)))
	}
	return strings.Join(clauses, "; ")
}

// when formats the time until the eviction, or since.
func (r rows) when(p *foresight.PendingPod) string {
	if p.Evict && r.at.Sub(*p.At) > foresight.OverdueAfter {
		return answer.Lasting(*p.At, r.at) + " ago"
	}
	return answer.When(&p.Prediction, r.at)
}

func (r rows) urgency(p *foresight.PendingPod) terminal.Colour {
	if p.At.After(r.at) {
		return terminal.Warned
	}
	return terminal.Bad
}

// state describes the state of the eviction, the reason, and the next step.
func (r rows) state(p *foresight.PendingPod) string {
	s := p.State
	if p.Cause != "" {
		s += " (" + p.Cause + ")"
	}
	if p.WaitsFor != "" {
		s += ", waits for " + p.WaitsFor
	}
	if p.NextTry != nil && p.State != status.Scheduled && p.NextTry.After(r.at) {
		s += ", tries again in " + answer.Lasting(r.at, *p.NextTry)
	}
	return s
}
