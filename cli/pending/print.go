package pending

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// write writes the answer for people.
func write(t *answer.Text, p *foresight.Pending) {
	if len(p.Pods) == 0 {
		return
	}
	if !t.Bare {
		t.Printf("%s\n", headline(p))
	}
	if t.Form == answer.AsSummary {
		summarize(t, p)
		return
	}
	var rows []answer.Row
	for _, pod := range p.Pods {
		why := answer.ShortReason(&pod.Prediction, p.At)
		if t.Wide() {
			why = wholeReason(pod)
		}
		rows = append(rows, answer.Row{
			PodRef: &pod.PodRef, Prediction: &pod.Prediction, When: answer.When(&pod.Prediction, p.At),
			State: state(pod, p.At), Why: why, Wider: []string{pod.Owner.String(), pod.SinceFrom},
		})
	}
	table := answer.PodTable{At: p.At, Namespace: p.Focus.Namespace, Wider: []string{"OWNER", "TAINT TIME SOURCE"}}
	table.Print(t, rows)
}

// emptyMessage returns the answer if no eviction was found.
func emptyMessage(p *foresight.Pending) string {
	if len(p.Incomplete) > 0 {
		return "No eviction found, but the answer is incomplete."
	}
	s := "No eviction is scheduled" + p.Focus.Words(p.OnNodes)
	switch {
	case p.TaintedNodes == nil:
	case *p.TaintedNodes == 0:
		s += ": no node has a taint that evicts pods"
	default:
		s += fmt.Sprintf(": %s %s a taint that evicts pods, and no pod is affected",
			foresight.Count(*p.TaintedNodes, "node"), foresight.Verb(*p.TaintedNodes, "has", "have"))
	}
	return p.Headline(s)
}

// stuck returns the states of evictions that do not succeed.
func stuck() []eviction.State {
	return []eviction.State{eviction.StateBlocked, eviction.StateRefused, eviction.StateDelayed}
}

// headline counts the evictions by their states, stuck ones first, and says when the next one is due.
func headline(p *foresight.Pending) string {
	states := map[eviction.State]int{}
	for _, pod := range p.Pods {
		states[pod.State]++
	}
	var counts []string
	others := []eviction.State{
		eviction.StateInFlight, overdue, eviction.StateDue, eviction.StateTerminating, eviction.StateScheduled,
	}
	for _, state := range append(stuck(), others...) {
		if n := states[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	s := foresight.Count(p.Evictions(), "eviction")
	switch {
	case len(counts) == 1: // its state is that of all
		_, state, _ := strings.Cut(counts[0], " ")
		s += " " + state
	case len(counts) > 1:
		s += ": " + strings.Join(counts, ", ")
	}
	if next := next(p); next != "" {
		s += "; next " + next
	}
	if pace := p.Pace.Words(p.Evictions(), answer.ClockOf(p.At)); pace != "" {
		s += "; " + pace
	}
	if n := states[eviction.StateHeld]; n > 0 {
		s += "; " + answer.Pods(n, "is", "are") + " held"
	}
	if p.Paused {
		s = "PAUSED: " + s
	}
	return p.Headline(s)
}

// next returns when the first of the scheduled evictions may start; "" if there are none.
func next(p *foresight.Pending) string {
	for _, pod := range p.Pods {
		if pod.State == eviction.StateScheduled { // they come in the order of their times
			return answer.When(&pod.Prediction, p.At)
		}
	}
	return ""
}

type pod = *foresight.PendingPod

// wholeReason returns the full reason, and the outcome of the last call.
func wholeReason(p pod) string {
	clauses := slices.Concat([]string{p.Reason}, p.Audits)
	if p.Message != "" {
		clauses = append(clauses, fmt.Sprintf("after %d attempts: %s", p.Attempts, answer.OneLine(p.Message)))
	}
	return strings.Join(clauses, "; ")
}

// state describes the state of the eviction, the reason, and the next step.
func state(p pod, at time.Time) string {
	s := string(p.State)
	if p.Cause != "" {
		s += " (" + p.Cause + ")"
	}
	if p.WaitsFor != "" {
		s += ", waiting for " + p.WaitsFor
	}
	if p.NextTry != nil && p.State != eviction.StateScheduled && p.NextTry.After(at) {
		s += ", next attempt in " + answer.Lasting(at, *p.NextTry)
	}
	return s
}
