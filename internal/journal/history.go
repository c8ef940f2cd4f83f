package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// maxStates is the maximum number of states of one taint.
const maxStates = 8

// historyOf returns the states for readers.
func historyOf(states []TaintState) taint.History {
	history := make(taint.History, len(states))
	for i := range states {
		s := &states[i]
		history[i] = taint.State{Taint: s.Taint, Since: s.Since, Ended: s.Ended, Relisted: s.Relisted}
	}
	return history
}

// statesAfter returns the states after an observation of the group's taints at a version: missing ones are marked
// Ended.
func statesAfter(states []TaintState, now []v1.Taint, version string) []TaintState {
	states = slices.Clone(states)
	for i := range states {
		s := &states[i]
		if t := present(now, &s.Taint); !s.Ended && t != nil {
			s.TimeAdded = t.TimeAdded
		} else if !s.Ended {
			s.Ended, s.To = true, version
		}
	}
	return dropCovered(states)
}

// dropCovered drops each state that began after another one and ended before it: it never decided anything.
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

// standing reports whether the taint has a state that has not ended.
func standing(states []TaintState, t *v1.Taint) bool {
	return slices.ContainsFunc(states, func(s TaintState) bool { return !s.Ended && same(&s.Taint, t) })
}

// bound limits a history to maxStates states. It joins a state with its ended predecessor if no pod distinguishes them,
// which changes no verdict. Otherwise it drops the oldest state, which makes evictions later.
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
