package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// maxStates is the maximum number of states of one taint.
const maxStates = 8

// TaintState is a state of a taint, with what the journal keeps of it.
type TaintState struct {
	taint.State

	// From is the node's resourceVersion at which the taint was first seen in this state, and To that at which the node
	// was first seen without it; empty while it lasts, and if unknown.
	From, To string

	// Found means that a list was the first to show the state, so it may have begun before.
	Found bool

	// Start and Listed are Since and Relisted by the API server's clock, as they are recorded. What was read is
	// recorded unchanged.
	Start, Listed time.Time
}

// afterAbsence reports whether the writer of the state had seen the node without it before it began.
func (s *TaintState) afterAbsence() bool { return !s.Found || !s.Listed.IsZero() }

// historyOf returns the states for readers.
func historyOf(states []TaintState) taint.History {
	history := make(taint.History, len(states))
	for i := range states {
		history[i] = states[i].State
	}
	return history
}

// statesAfter returns the states after an observation of the group's taints at a version: those that are gone have
// ended. A state that began after another state, and ended before it, is dropped: the other one decided for its whole
// duration.
func statesAfter(states []TaintState, now []v1.Taint, version string) []TaintState {
	remaining, stands := make([]TaintState, 0, len(states)+1), false // stands: an earlier state stood until now
	for _, s := range states {
		stood := !s.Ended
		if t := present(now, &s.Taint); stood && t != nil {
			s.Taint.TimeAdded = t.TimeAdded
		} else if stood {
			s.Ended, s.To = true, version
		}
		if !stood || !s.Ended || !stands {
			remaining = append(remaining, s)
		}
		stands = stands || stood
	}
	return remaining
}

// dropCovered drops each state that began after another state and ended before it, as statesAfter does.
func dropCovered(states []TaintState) []TaintState {
	remaining := states[:0]
	for _, state := range states {
		outlasts := func(before TaintState) bool {
			return state.Ended && (!before.Ended || IsNewer(state.To, state.From) && Reaches(before.To, state.To))
		}
		if !slices.ContainsFunc(remaining, outlasts) {
			remaining = append(remaining, state)
		}
	}
	return remaining
}

// standing reports whether the history has the taint in a state that has not ended.
func standing(states []TaintState, t *v1.Taint) bool {
	return slices.ContainsFunc(states, func(s TaintState) bool { return !s.Ended && same(&s.Taint, t) })
}

// bound limits a history to maxStates states. It joins neighbours of which the older has ended and which no pod
// distinguishes; this changes no verdict. Without such neighbours it drops the oldest state; evictions are later then.
func bound(states []TaintState, apart func(a, b *v1.Taint) bool) []TaintState {
	for len(states) > maxStates {
		i := joinable(states, apart)
		if i > 0 {
			before := &states[i-1]
			states[i].Since, states[i].Start, states[i].From = before.Since, before.Start, before.From
			states[i].Found, states[i].Relisted, states[i].Listed = before.Found, before.Relisted, before.Listed
		}
		states = append(states[:max(i-1, 0)], states[max(i, 1):]...)
	}
	return states
}

// joinable returns the index of the first state that equals the ended state before it for all pods; 0 if there is none.
func joinable(states []TaintState, apart func(a, b *v1.Taint) bool) int {
	if apart == nil {
		return 0
	}
	for i := 1; i < len(states); i++ {
		if states[i-1].Ended && !apart(&states[i-1].Taint, &states[i].Taint) {
			return i
		}
	}
	return 0
}
