package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// maxStates is the maximum number of states of one taint.
const maxStates = 8

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

// bound limits a history to maxStates states. It joins a state with its ended predecessor if no pod distinguishes them,
// which changes no verdict. Otherwise it drops the oldest state, which makes evictions later.
func bound(states []TaintState, apart func(a, b *v1.Taint) bool) []TaintState {
	for len(states) > maxStates {
		drop := 0
		for i := 1; apart != nil && i < len(states); i++ {
			before, s := states[i-1], &states[i]
			if before.Ended && !apart(&before.Taint, &s.Taint) {
				before.Taint, before.Ended, before.To = s.Taint, s.Ended, s.To
				drop, *s = i-1, before
				break
			}
		}
		states = slices.Delete(states, drop, drop+1)
	}
	return states
}
