package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// joined returns the recorded states of a presence, continued by those that this process has observed since. The node's
// versions decide which observed states are among the recorded ones, and which recorded states are not observed yet.
// looked is the version at the last observation.
func (l *presence) joined(looked string, apart func(a, b *v1.Taint) bool) taint.History {
	if len(l.recorded.states) == 0 {
		return dropCovered(slices.Clone(l.seen))
	}
	own, as := l.unrecorded(looked)
	joined := make(taint.History, 0, len(l.recorded.states)+len(own))
	for i, state := range l.recorded.states {
		if as[i] == nil && ahead(&state, looked) {
			continue
		}
		joined = append(joined, l.asSeen(state, as[i]))
	}
	return bound(dropCovered(sorted(inTurn(joined, own))), apart)
}

// ahead reports whether a process that has observed the node up to this version cannot have seen the recorded state.
func ahead(recorded *taint.State, looked string) bool {
	return !recorded.FoundInList && isNewer(recorded.From, looked)
}

// asSeen returns a recorded state, updated with the observed state that equals it; seen may be nil.
func (l *presence) asSeen(recorded taint.State, seen *taint.State) taint.State {
	if seen == nil {
		if !recorded.Ended && isNewer(l.from, l.recorded.version) {
			recorded.To = l.from // it had ended at the first observation, at the latest
		}
		recorded.Ended = true
		return recorded
	}
	recorded.Ended, recorded.To, recorded.Taint.TimeAdded = seen.Ended, seen.To, seen.Taint.TimeAdded
	if recorded.FoundInList && !seen.FoundInList {
		recorded.From, recorded.FoundInList = seen.From, false
	}
	return recorded
}

// inTurn returns the states in the order in which they began. Because the clocks of two processes differ, a recorded
// state may seem to have begun after a state that was observed later.
func inTurn(recorded, own taint.History) taint.History {
	for i := range own {
		for j := range recorded {
			if !own[i].Since.Before(recorded[j].Since) || !isNewer(own[i].From, recorded[j].From) {
				continue
			}
			if own[i].FoundInList { // its time was not observed
				own[i].Since = recorded[j].Since
			} else {
				recorded[j].Since = own[i].Since
			}
		}
	}
	return append(recorded, own...)
}

// unrecorded returns the observed states that the record does not have, and, for each recorded state, the observed
// state that equals it, or nil.
func (l *presence) unrecorded(looked string) (own taint.History, as []*taint.State) {
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

// among returns the index of the recorded state that equals the i-th observed state; -1 if there is none.
func (l *presence) among(i int, looked string) int {
	state := &l.seen[i]
	switch {
	case reaches(l.recorded.version, state.From):
		return l.recorded.at(state, looked)
	case state.FoundInList && !l.cameBack(i, looked):
		return l.recorded.last(func(recorded *taint.State) bool { return !recorded.Ended && same(&recorded.Taint, &state.Taint) })
	}
	return -1
}

// at returns the index of the recorded state that equals this observed state, which began at a version that the
// record's writer had seen. The state may have ended and begun again in a gap of this process's watch, or the writer
// may have found it later than this process observed it. Therefore it is the last recorded state that began before this
// one ended.
func (t *recorded) at(state *taint.State, looked string) int {
	had := func(recorded *taint.State) bool { return reaches(state.From, recorded.From) }
	since := ""
	if w := t.last(had); w >= 0 && !state.FoundInList {
		since = t.states[w].From // a recorded state lasts until the next one begins
	}
	return t.last(func(recorded *taint.State) bool {
		before := isNewer(state.To, recorded.From) || state.To == "" && !ahead(recorded, looked)
		return same(&recorded.Taint, &state.Taint) && (before || had(recorded)) && (since == "" || reaches(recorded.From, since))
	})
}

// last returns the index of the last recorded state for which holds returns true; -1 if there is none.
func (t *recorded) last(holds func(*taint.State) bool) int {
	for i := len(t.states) - 1; i >= 0; i-- {
		if holds(&t.states[i]) {
			return i
		}
	}
	return -1
}

// cameBack reports whether a state before the i-th observed state has its value, and is among the recorded states or later
// than the record. One that is neither is of a presence that the record's writer has seen end.
func (l *presence) cameBack(i int, looked string) bool {
	return slices.ContainsFunc(l.seen[:i], func(s taint.State) bool {
		return same(&s.Taint, &l.seen[i].Taint) && (!reaches(l.recorded.version, s.From) || l.recorded.at(&s, looked) >= 0)
	})
}
