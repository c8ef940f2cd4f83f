package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// joined returns the recorded states of a presence, continued by those that this process has observed since. The node's
// versions decide which observed states are among the recorded ones, and which recorded states are not observed yet.
// lastVersion is the version at the last observation.
func (p *presence) joined(lastVersion string, apart func(a, b *v1.Taint) bool) taint.History {
	if len(p.recorded.states) == 0 {
		return dropCovered(slices.Clone(p.seen))
	}
	own, equals := p.unrecorded(lastVersion)
	joined := make(taint.History, 0, len(p.recorded.states)+len(own))
	for i, state := range p.recorded.states {
		if equals[i] == nil && isUnobserved(&state, lastVersion) {
			continue
		}
		joined = append(joined, p.updated(state, equals[i]))
	}
	return bound(dropCovered(sorted(inOrder(joined, own))), apart)
}

// isUnobserved reports whether a process that has observed the node up to lastVersion cannot have seen the recorded
// state.
func isUnobserved(recorded *taint.State, lastVersion string) bool {
	return !recorded.FoundInList && IsNewer(recorded.From, lastVersion)
}

// updated returns a recorded state, updated with the observed state that equals it. Without such a state, the recorded
// state has ended.
func (p *presence) updated(recorded taint.State, seen *taint.State) taint.State {
	if seen == nil {
		if !recorded.Ended && IsNewer(p.from, p.recorded.version) {
			recorded.To = p.from // the state had ended at the first observation, at the latest
		}
		recorded.Ended = true
		return recorded
	}
	recorded.Ended, recorded.To, recorded.Taint.TimeAdded = seen.Ended, seen.To, seen.Taint.TimeAdded
	if seen.Relisted.After(recorded.Relisted) {
		recorded.Relisted = seen.Relisted
	}
	if recorded.FoundInList && !seen.FoundInList {
		recorded.From, recorded.FoundInList = seen.From, false
	}
	return recorded
}

// inOrder returns the states in the order in which they began. Because the clocks of two processes differ, a recorded
// state may seem to have begun after a state that was observed later.
func inOrder(recorded, own taint.History) taint.History {
	for i := range own {
		for j := range recorded {
			if !own[i].Since.Before(recorded[j].Since) || !IsNewer(own[i].From, recorded[j].From) {
				continue
			}
			if own[i].FoundInList { // its beginning was not observed
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
func (p *presence) unrecorded(lastVersion string) (own taint.History, equals []*taint.State) {
	equals = make([]*taint.State, len(p.recorded.states))
	for i := range p.seen {
		state := p.seen[i]
		switch j := p.among(i, lastVersion); {
		case p.returned(&state, j, lastVersion):
			state.Since, state.Relisted, state.FoundInList = p.recorded.relisted, p.recorded.relisted, true
			own = append(own, state)
		case j >= 0:
			equals[j] = &p.seen[i]
		case !state.Ended || !reaches(p.recorded.version, state.From):
			own = append(own, state)
		}
	}
	return own, equals
}

// returned reports whether an observed state, which equals the j-th recorded state, or none if j is -1, stands although
// the record's writer has seen the node without it. The state ended and began again in a gap of this process's watch.
func (p *presence) returned(state *taint.State, j int, lastVersion string) bool {
	stood := j >= 0 && !p.recorded.states[j].Ended
	ended := !stood && reaches(p.recorded.version, state.From) && reaches(lastVersion, p.recorded.version)
	return !state.Ended && ended && p.recorded.relisted.After(state.Since)
}

// among returns the index of the recorded state that equals the i-th observed state; -1 if there is none.
func (p *presence) among(i int, lastVersion string) int {
	state := &p.seen[i]
	switch {
	case reaches(p.recorded.version, state.From):
		return p.recorded.at(state, lastVersion)
	case state.FoundInList && !p.cameBack(i, lastVersion):
		return p.recorded.last(func(recorded *taint.State) bool {
			return !recorded.Ended && same(&recorded.Taint, &state.Taint)
		})
	}
	return -1
}

// at returns the index of the recorded state that equals this observed state; -1 if there is none. The observed state
// began at a version that the record's writer had seen. The state may have ended and begun again in a gap of this
// process's watch, or the writer may have found the state later than this process observed it. Therefore the last
// recorded state that began before the observed state ended equals it.
func (r *recorded) at(state *taint.State, lastVersion string) int {
	had := func(recorded *taint.State) bool { return reaches(state.From, recorded.From) }
	since := ""
	if w := r.last(had); w >= 0 && !state.FoundInList {
		since = r.states[w].From // a recorded state lasts until the next one begins
	}
	return r.last(func(recorded *taint.State) bool {
		before := IsNewer(state.To, recorded.From) || state.To == "" && !isUnobserved(recorded, lastVersion)
		return same(&recorded.Taint, &state.Taint) && (before || had(recorded)) &&
			(since == "" || reaches(recorded.From, since))
	})
}

// last returns the index of the last recorded state for which holds returns true; -1 if there is none.
func (r *recorded) last(holds func(*taint.State) bool) int {
	for i := len(r.states) - 1; i >= 0; i-- {
		if holds(&r.states[i]) {
			return i
		}
	}
	return -1
}

// cameBack reports whether the taint of the i-th observed state had the same value before, in a state that is among the
// recorded states or later than the record. A state that is neither is of a presence that the record's writer has seen
// end.
func (p *presence) cameBack(i int, lastVersion string) bool {
	return slices.ContainsFunc(p.seen[:i], func(s taint.State) bool {
		return same(&s.Taint, &p.seen[i].Taint) && (!reaches(p.recorded.version, s.From) ||
			p.recorded.at(&s, lastVersion) >= 0)
	})
}
