package inspect

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
)

// overdueAfter is how late an eviction is when it counts as overdue.
const overdueAfter = 10 * time.Second

func printPending(w io.Writer, p *foresight.Pending, s style, everywhere bool) error {
	switch {
	case isDocument(s.form):
		return printDocument(w, p, s.form)
	case s.form == asName:
		return printPendingNames(w, p)
	case len(p.Pods) == 0:
		return nil
	}
	var text terminal.Builder
	if s.form != asSummary {
		if !s.noHeaders {
			pendingTotal(&text, p, ":\n\n")
		}
		s.print(pendingText{at: p.At, wide: s.form == asWide, everywhere: everywhere}.table(p.Pods), &text)
	}
	if s.form == asSummary || s.overflows(text.String()) {
		text = terminal.Builder{}
		summarizePending(&text, p, &s)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// pendingTotal writes the number of scheduled evictions.
func pendingTotal(text *terminal.Builder, p *foresight.Pending, end string) {
	going, scheduled := p.Going(), "evictions are"
	if going == 1 {
		scheduled = "eviction is"
	}
	text.Printf("%d %s scheduled, by taint-manager's rules", going, scheduled)
	if held := len(p.Pods) - going; held > 0 {
		text.Printf("; %s held", pods(held, "is", "are"))
	}
	text.WriteString(end)
}

// printPendingNames prints namespaces and names of the pods that are not held, as plan does.
func printPendingNames(w io.Writer, p *foresight.Pending) error {
	var s terminal.Builder
	for i := range p.Pods {
		if p.Pods[i].Evict {
			s.Printf("%s/%s\n", p.Pods[i].Namespace, p.Pods[i].Name)
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// pendingText shows people what is scheduled at a moment.
type pendingText struct {
	at               time.Time
	wide, everywhere bool
	policies         bool // whether a policy or a breaker decides about some pod
}

func (t pendingText) table(list []foresight.PendingPod) *terminal.Table {
	headings := []string{"WHEN", "AT"}
	if t.everywhere {
		headings = append(headings, "NAMESPACE")
	}
	headings = append(headings, "POD", "NODE", "STATE", "TAINT")
	if !t.wide {
		headings = append(headings, "WHY")
	} else {
		headings = append(headings, "OWNER", "SINCE FROM", "WHY")
	}
	t.policies = byPolicies(list, func(p *foresight.PendingPod) *foresight.Prediction { return &p.Prediction })
	if t.policies {
		headings = slices.Insert(headings, len(headings)-1, "POLICY")
	}
	made := terminal.NewTable(headings...)
	for i := range list {
		made.AddRow(func() []terminal.Cell { return t.row(&list[i]) })
	}
	return made
}

func (t pendingText) row(p *foresight.PendingPod) []terminal.Cell {
	cells := []terminal.Cell{terminal.Painted(t.when(p), t.urgency(p)), terminal.Text(t.moment(p))}
	if t.everywhere {
		cells = append(cells, terminal.Text(p.Namespace))
	}
	cells = append(cells, terminal.Text(p.Name), terminal.Text(p.Node), terminal.Painted(t.state(p), stateColour(p.State)), terminal.Text(because(&p.Prediction)))
	if !t.wide {
		return append(t.withPolicy(cells, p), terminal.Text(why(&p.Prediction)))
	}
	owner, why := "", strings.Join(append([]string{p.Reason}, p.Audits...), "; ")
	if p.Owner != nil {
		owner = p.Owner.String()
	}
	if p.Message != "" {
		why += fmt.Sprintf("; after %d tries: %s", p.Attempts, strings.Join(strings.Fields(p.Message), " "))
	}
	cells = t.withPolicy(append(cells, terminal.Text(owner), terminal.Text(p.SinceFrom)), p)
	return append(cells, terminal.Text(why))
}

// withPolicy appends the cell of the policy, if there are policies.
func (t pendingText) withPolicy(cells []terminal.Cell, p *foresight.PendingPod) []terminal.Cell {
	if !t.policies {
		return cells
	}
	return append(cells, terminal.Text(decider(&p.Prediction, t.at)))
}

// when formats the time until the eviction, or since.
func (t pendingText) when(p *foresight.PendingPod) string {
	if p.Evict && t.at.Sub(*p.At) > overdueAfter {
		return lasting(*p.At, t.at) + " ago"
	}
	return when(&p.Prediction, t.at)
}

func (t pendingText) urgency(p *foresight.PendingPod) terminal.Colour {
	if p.At.After(t.at) {
		return terminal.Warned
	}
	return terminal.Bad
}

// moment returns the time of the eviction.
func (t pendingText) moment(p *foresight.PendingPod) string {
	if t.wide {
		return stamp(&p.Prediction)
	}
	return clock(&p.Prediction, t.at)
}

// state describes the state of the eviction, the reason, and the next step.
func (t pendingText) state(p *foresight.PendingPod) string {
	s := p.State
	if p.Cause != "" {
		s += " (" + p.Cause + ")"
	}
	if p.WaitsFor != "" {
		s += ", waits for " + p.WaitsFor
	}
	if p.NextTry != nil && p.State != status.Scheduled && p.NextTry.After(t.at) {
		s += ", tries again in " + lasting(t.at, *p.NextTry)
	}
	return s
}

func stateColour(state string) terminal.Colour {
	switch state {
	case status.Blocked, status.Refused, status.Delayed:
		return terminal.Bad
	}
	return terminal.Plain
}
