package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// States is how many states of one taint are kept.
const States = 8

// sorted sorts states by their Since, in place.
func sorted(states taint.History) taint.History {
	slices.SortStableFunc(states, func(a, b taint.State) int { return a.Since.Compare(b.Since) })
	return states
}

// dropCovered drops states that began after, and ended before the end of, another one: for the time they
// lasted, that one says all there is to say. It writes to its argument.
func dropCovered(states taint.History) taint.History {
	kept := states[:0]
	for _, state := range states {
		if !slices.ContainsFunc(kept, func(before taint.State) bool { return outlasts(&before, &state) }) {
			kept = append(kept, state)
		}
	}
	return kept
}

// outlasts says whether a state that began before another one ended after it, or stands when that has ended.
// Versions that never change, as those of a fake API server, tell nothing.
func outlasts(before, state *taint.State) bool {
	return state.Ended && (!before.Ended || isNewer(state.To, state.From) && reaches(before.To, state.To))
}

// bound keeps a history to States states. It first joins past neighbours that no pod tells apart,
// which changes no verdict; where there are none, the oldest state goes, which only makes
// evictions later.
func bound(states taint.History, apart func(a, b *v1.Taint) bool) taint.History {
	for len(states) > States {
		i := joinable(states, apart)
		if i > 0 {
			states[i].Since, states[i].From = states[i-1].Since, states[i-1].From
			states[i].FoundInList = states[i-1].FoundInList
		}
		states = append(states[:max(i-1, 0)], states[max(i, 1):]...)
	}
	return states
}

// joinable is the first state that says the same as the one before it, which is past; 0 when there
// is none.
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
