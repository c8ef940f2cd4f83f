package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// life is the presence of one taint on one node, as far as one can tell unbroken.
type life struct {
	// seen are its states as this process has seen them.
	seen taint.History

	// from is the node's version at which the taint was first seen.
	from string

	// found are the taints of this life as they were found after a gap; nil when they were seen to appear.
	found []v1.Taint

	// absent, where they were found, is the node's version at the look before; empty when there was none.
	absent string

	// shortened says that seen has lost states.
	shortened bool

	// told is what a record has told of the life.
	told told

	// history is both as one.
	history taint.History
}

// told is the history that a record holds.
type told struct {
	states  taint.History // on the clock of this process
	read    taint.History // as it was read
	version string        // of the node when the record's writer last saw its taints change
	live    bool          // this process received the writing that the times of the states were taken from
}

// born is a life that begins with the sighting.
func born(t *v1.Taint, s *Sighting) *life {
	l := &life{from: s.Version}
	if !s.Gap {
		return l
	}
	l.absent = s.Before
	for i := range s.Taints {
		if counts(&s.Taints[i], t) {
			l.found = append(l.found, s.Taints[i])
		}
	}
	return l
}

// observed is the life after the sighting of its taint t.
func (l *life) observed(t *v1.Taint, s *Sighting) life {
	now := *l
	now.seen = make(taint.History, 0, len(l.seen)+1)
	for i := range l.seen {
		now.seen = append(now.seen, again(l.seen[i], s))
	}
	for i := range s.Taints {
		if counts(&s.Taints[i], t) && !standing(now.seen, &s.Taints[i]) {
			now.seen = append(now.seen, begin(s, &s.Taints[i], l.history))
		}
	}
	// Versions that do not move, as those of a fake API server, can't tell later which state outlasted which.
	unmoved := !isNewer(s.Version, s.Before) && !unchangedHistory(l.seen, now.seen)
	if sorted(now.seen); len(now.seen) > States || unmoved {
		all := len(now.seen)
		now.seen = bound(settle(now.seen), s.Apart)
		now.shortened = now.shortened || len(now.seen) < all
	}
	return now
}

// again is a known state as the sighting shows it now.
func again(state taint.State, s *Sighting) taint.State {
	now := present(s.Taints, &state.Taint)
	switch {
	case state.Past:
	case now == nil:
		state.Past, state.To = true, s.Version
	default:
		state.Taint.TimeAdded = now.TimeAdded
	}
	return state
}

// begin is the state of a taint that was not there at the last look.
func begin(s *Sighting, t *v1.Taint, known taint.History) taint.State {
	state := taint.State{
		Taint: v1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect, TimeAdded: t.TimeAdded},
		Since: s.At, From: s.Version, Found: s.Gap,
	}
	if !s.Gap {
		return state
	}
	since := s.listedSince(t)
	if len(known) == 0 || since.After(known[len(known)-1].Since) {
		state.Since = since
	}
	return state
}

// renewed says whether the taint, as it is seen after a gap, is another one than that of this life.
func (l *life) renewed(s *Sighting) bool {
	return renewed(slices.Concat(l.told.states, l.history), s)
}

// sameLife says whether two lives are the same one, and show the same.
func sameLife(a, b life) bool { return a.from == b.from && unchangedHistory(a.seen, b.seen) }
