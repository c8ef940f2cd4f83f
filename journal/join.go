package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// joined is what was told of a life, carried on by what this process has seen since. The node's versions
// say which of the states seen are among those told, and which of those told are still to be seen. Looked is
// the version at the last look.
func (l *presence) joined(looked string, apart func(a, b *v1.Taint) bool) taint.History {
	if len(l.recorded.states) == 0 {
		return settle(slices.Clone(l.seen))
	}
	own, as := l.untold(looked)
	joined := make(taint.History, 0, len(l.recorded.states)+len(own))
	for i, state := range l.recorded.states {
		if as[i] == nil && ahead(&state, looked) {
			continue
		}
		joined = append(joined, l.asSeen(state, as[i]))
	}
	return bound(settle(sorted(inTurn(joined, own))), apart)
}

// ahead says whether a state told can't have been seen by who has looked up to this version.
func ahead(told *taint.State, looked string) bool {
	return !told.FoundInList && isNewer(told.From, looked)
}

// asSeen is a state told, which is this one of those seen, or none.
func (l *presence) asSeen(told taint.State, seen *taint.State) taint.State {
	if seen == nil {
		if !told.Ended && isNewer(l.from, l.recorded.version) {
			told.To = l.from // it was no longer there at the first look, at the latest
		}
		told.Ended = true
		return told
	}
	told.Ended, told.To, told.Taint.TimeAdded = seen.Ended, seen.To, seen.Taint.TimeAdded
	if told.FoundInList && !seen.FoundInList {
		told.From, told.FoundInList = seen.From, false
	}
	return told
}

// inTurn are states that began one after the other. As the clocks of two processes differ, those told may seem to
// have begun after what was seen later.
func inTurn(told, own taint.History) taint.History {
	for i := range own {
		for j := range told {
			if !own[i].Since.Before(told[j].Since) || !isNewer(own[i].From, told[j].From) {
				continue
			}
			if own[i].FoundInList { // its time is not its own sight
				own[i].Since = told[j].Since
			} else {
				told[j].Since = own[i].Since
			}
		}
	}
	return append(told, own...)
}

// untold are the states seen that the record does not have, and, for each state told, the one seen that it
// is, or nil.
func (l *presence) untold(looked string) (own taint.History, as []*taint.State) {
	as = make([]*taint.State, len(l.recorded.states))
	for i := range l.seen {
		state := &l.seen[i]
		if j := l.among(i, looked); j >= 0 {
			as[j] = state
		} else if !state.Ended || !reaches(l.recorded.version, state.From) {
			own = append(own, *state)
		}
	}
	return own, as
}

// among is which of the states told the i-th state seen is; -1 when it is none.
func (l *presence) among(i int, looked string) int {
	state := &l.seen[i]
	switch {
	case reaches(l.recorded.version, state.From):
		return l.recorded.at(state, looked)
	case state.FoundInList && !hasValue(l.seen[:i], state):
		return l.recorded.last(func(told *taint.State) bool { return !told.Ended && same(&told.Taint, &state.Taint) })
	}
	return -1
}

// at is which of the states told this state is, which began when the record's writer had seen as much. It may have
// come back in a gap of this process's watch, or been found by the writer later than it was seen here: so it is the
// last one that began before this state ended.
func (t *recorded) at(state *taint.State, looked string) int {
	had := func(told *taint.State) bool { return reaches(state.From, told.From) }
	since := ""
	if w := t.last(had); w >= 0 && !state.FoundInList {
		since = t.states[w].From // a state told lasts until the next begins
	}
	return t.last(func(told *taint.State) bool {
		before := isNewer(state.To, told.From) || state.To == "" && !ahead(told, looked)
		return same(&told.Taint, &state.Taint) && (before || had(told)) && (since == "" || reaches(told.From, since))
	})
}

// last is the last state told for which that holds; -1 when there is none.
func (t *recorded) last(holds func(*taint.State) bool) int {
	for i := len(t.states) - 1; i >= 0; i-- {
		if holds(&t.states[i]) {
			return i
		}
	}
	return -1
}

// hasValue says whether one of the states is this taint with this value.
func hasValue(states taint.History, state *taint.State) bool {
	return slices.ContainsFunc(states, func(s taint.State) bool { return same(&s.Taint, &state.Taint) })
}
