package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// presence is the presence of one taint on one node, without an interruption that is known.
type presence struct {
	role role

	// seen are the states that this process has observed.
	seen taint.History

	// from is the node's version at which this process first saw the taint.
	from string

	// found are the taints of this presence as they were found after a gap; nil if this process saw them appear.
	found []v1.Taint

	// absent, if the taints were found, is the node's version at the previous observation; empty if there was none.
	absent string

	// relisted is when the latest list after a gap of the watch showed the taint; zero if there was no such gap.
	relisted time.Time

	// shortened means that states of seen were dropped.
	shortened bool

	// recorded has the states of a record.
	recorded recorded

	// history is seen and recorded merged.
	history taint.History
}

// recorded is the history that a record holds.
type recorded struct {
	states  taint.History // on the clock of this process
	read    taint.History // as it was read
	version string        // of the node when the record's writer last saw its taints change
	writing Writing       // that contained it

	// relisted is the presence's relisted when the record was adopted. Later lists must not move a state that began
	// again.
	relisted time.Time
}

// newPresence returns a presence that begins with the observation.
func newPresence(r role, t *v1.Taint, s *Observation) *presence {
	p := &presence{role: r, from: s.Version}
	if !s.found(t) {
		return p
	}
	if !s.added(t) {
		p.absent = s.Before
	}
	for i := range s.Taints {
		if counts(&s.Taints[i], t) {
			p.found = append(p.found, s.Taints[i])
		}
	}
	return p
}

// observed returns the presence after an observation of its taint t.
func (p *presence) observed(t *v1.Taint, s *Observation) presence {
	now := *p
	if s.relisted() {
		now.relisted = s.At
	}
	now.seen = make(taint.History, 0, len(p.seen)+1)
	for i := range p.seen {
		now.seen = append(now.seen, again(p.seen[i], s))
	}
	for i := range s.Taints {
		if counts(&s.Taints[i], t) && !standing(now.seen, &s.Taints[i]) {
			now.seen = append(now.seen, begin(s, &s.Taints[i], p.history))
		}
	}
	// If versions do not change, as those of a fake API server, nothing can show later which state outlasted which.
	unmoved := !IsNewer(s.Version, s.Before) && !unchangedHistory(p.seen, now.seen)
	if sorted(now.seen); len(now.seen) > States || unmoved {
		all := len(now.seen)
		now.seen = bound(dropCovered(now.seen), s.Distinguishes)
		now.shortened = now.shortened || len(now.seen) < all
	}
	return now
}

// again returns a known state as the observation shows it.
func again(state taint.State, s *Observation) taint.State {
	now := present(s.Taints, &state.Taint)
	switch {
	case state.Ended:
	case now == nil:
		state.Ended, state.To = true, s.Version
	default:
		state.Taint.TimeAdded = now.TimeAdded
	}
	return state
}

// begin returns the state of a taint that the previous observation did not have.
func begin(s *Observation, t *v1.Taint, known taint.History) taint.State {
	state := taint.State{
		Taint: v1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect, TimeAdded: t.TimeAdded},
		Since: s.At, From: s.Version, FoundInList: s.found(t),
	}
	if !s.Gap {
		return state
	}
	if s.relisted() {
		state.Relisted = s.At
	}
	since := s.listedSince(t)
	if len(known) == 0 || since.After(known[len(known)-1].Since) {
		state.Since = since
	}
	return state
}

// renewed reports whether the taint that is observed after a gap is of another presence.
func (p *presence) renewed(s *Observation) bool {
	return renewed(slices.Concat(p.recorded.states, p.history), s)
}

// samePresence reports whether two presences are the same and have the same states, whatever lists have shown them.
func samePresence(a, b presence) bool {
	return a.role == b.role && a.from == b.from && unchangedHistory(a.seen, b.seen)
}

// renewed reports whether, as far as this can be seen after a gap, the known taint was removed and set again in
// between.
func renewed(known taint.History, s *Observation) bool {
	for i := range s.Taints {
		if t := &s.Taints[i]; counts(&known[0].Taint, t) && !isLater(known, s, t) {
			return false
		}
	}
	return true
}

// isLater reports whether the taint's timeAdded shows that the known taint was replaced. For not-ready and unreachable
// it shows this only if no process watched at that time: the node lifecycle controller sets timeAdded anew
// whenever it swaps the two, and after it has restarted.
func isLater(known taint.History, s *Observation, t *v1.Taint) bool {
	if t.TimeAdded == nil || isRecorded(known, t) {
		return false
	}
	added := s.moment(t.TimeAdded.Time)
	if swapped(t.Key) && !added.After(s.Watched) {
		return false
	}
	return added.After(slices.MaxFunc(known, bySince).Since)
}

// isRecorded reports whether the history has the taint with exactly this timeAdded.
func isRecorded(known taint.History, t *v1.Taint) bool {
	return slices.ContainsFunc(known, func(s taint.State) bool {
		return same(&s.Taint, t) && t.TimeAdded.Equal(s.Taint.TimeAdded)
	})
}
