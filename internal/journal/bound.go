package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// States is the maximum number of states of one taint.
const States = 8

// sorted sorts states by their Since, in place.
func sorted(states taint.History) taint.History {
	slices.SortStableFunc(states, bySince)
	return states
}

func bySince(a, b taint.State) int { return a.Since.Compare(b.Since) }

// dropCovered drops each state that began after another state and ended before the other state: for its whole duration
// the other state decides. It overwrites its argument.
func dropCovered(states taint.History) taint.History {
	remaining := states[:0]
	for _, state := range states {
		if !slices.ContainsFunc(remaining, func(before taint.State) bool { return outlasts(&before, &state) }) {
			remaining = append(remaining, state)
		}
	}
	return remaining
}

// outlasts reports whether the state before ended after the other state, or stands although the other state has ended.
// Versions that never change, as those of a fake API server, prove nothing.
func outlasts(before, state *taint.State) bool {
	return state.Ended && (!before.Ended || IsNewer(state.To, state.From) && reaches(before.To, state.To))
}

// bound limits a history to States states. It joins neighbours of which the older has ended and which no pod
// distinguishes; this changes no verdict. Without such neighbours it drops the oldest state; evictions are later then.
func bound(states taint.History, apart func(a, b *v1.Taint) bool) taint.History {
	for len(states) > States {
		i := joinable(states, apart)
		if i > 0 {
			states[i].Since, states[i].From = states[i-1].Since, states[i-1].From
			states[i].FoundInList, states[i].Relisted = states[i-1].FoundInList, states[i-1].Relisted
		}
		states = append(states[:max(i-1, 0)], states[max(i, 1):]...)
	}
	return states
}

// joinable returns the index of the first state that equals the ended state before it for all pods; 0 if there is none.
func joinable(states taint.History, apart func(a, b *v1.Taint) bool) int {
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
