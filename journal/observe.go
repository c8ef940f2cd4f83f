package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// States is how many states of one taint are kept.
const States = 8

// Sighting is one look at a node.
type Sighting struct {
	// Taints of the node now; those whose effect is not NoExecute are passed over.
	Taints []v1.Taint

	// At is the moment of the look. It carries the monotonic clock, so that what is derived from
	// it does not move when the wall clock is set.
	At time.Time

	// Created is the node's creation time by the API server's clock.
	Created time.Time

	// Gap says that the node may have changed unseen since what is known of it was so: at the first
	// list of a process, or when a watch could not go on where it broke off. A taint's timeAdded then
	// tells what was missed. Otherwise the process saw the taint appear, and timeAdded tells nothing.
	Gap bool

	// Watched, with Gap, is the last moment at which somebody is known to have watched the node;
	// zero when nobody is.
	Watched time.Time

	// Apart says whether some pod of the node bears one of two states without a limit and the
	// other one not. Nil means that any two states may be told apart.
	Apart func(a, b *v1.Taint) bool
}

// Observe returns the histories of the taints in the sighting, given those known before; nil when
// the node has no NoExecute taint. What was known is not written to, and is returned as it is when
// nothing has changed, so that a caller may compare.
//
// A taint is its key and effect. not-ready and unreachable count as one, because the node lifecycle
// controller swaps them. A taint that is gone from a sighting is forgotten: when it comes back, it
// is new.
func Observe(known []taint.History, s Sighting) []taint.History {
	var seen []taint.History
	for i := range s.Taints {
		t := &s.Taints[i]
		if t.Effect != v1.TaintEffectNoExecute || find(seen, t) != nil {
			continue
		}
		seen = append(seen, advance(continued(find(known, t), &s), s, t))
	}
	if unchanged(known, seen) {
		return known
	}
	return seen
}

// advance carries the history of the taints that count as one with t on to the sighting.
func advance(known taint.History, s Sighting, t *v1.Taint) taint.History {
	now := make(taint.History, 0, len(known)+1)
	for i := range known {
		now = append(now, again(known[i], s.Taints))
	}
	for i := range s.Taints {
		if counts(&s.Taints[i], t) && !standing(now, &s.Taints[i]) {
			now = append(now, begin(&s, &s.Taints[i], known))
		}
	}
	return bound(settle(sorted(now)), s.Apart)
}

// again is a known state as the taints show it now.
func again(state taint.State, taints []v1.Taint) taint.State {
	now := present(taints, &state.Taint)
	state.Past = state.Past || now == nil
	if !state.Past {
		state.Taint.TimeAdded = now.TimeAdded
	}
	return state
}

// begin is the state of a taint that was not there at the last look.
func begin(s *Sighting, t *v1.Taint, known taint.History) taint.State {
	state := taint.State{
		Taint: v1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect, TimeAdded: t.TimeAdded},
		Since: s.At,
	}
	if !s.Gap {
		return state
	}
	since := listedSince(s, t)
	if len(known) == 0 || since.After(known[len(known)-1].Since) {
		state.Since = since
	}
	return state
}

// listedSince is the taint's timeAdded where it can be believed, else the moment of the sighting.
// API times are whole seconds, cut off: the next one is taken, so that nothing is early. That may not
// have come yet; then the moment of the sighting is late enough.
func listedSince(s *Sighting, t *v1.Taint) time.Time {
	if t.TimeAdded == nil || t.TimeAdded.After(s.At) || t.TimeAdded.Time.Before(s.Created) {
		return s.At
	}
	since := s.At.Add(min(NextSecond(t.TimeAdded.Time).Sub(s.At), 0))
	if since.Before(s.Watched) {
		return s.At // it was not there then
	}
	return since
}

// NextSecond is the second after the one that t was cut off to: the earliest moment that is
// certainly not before the one that an API timestamp stands for.
func NextSecond(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) }

// sorted sorts states by their Since, in place.
func sorted(states taint.History) taint.History {
	slices.SortStableFunc(states, func(a, b taint.State) int { return a.Since.Compare(b.Since) })
	return states
}

// settle drops states that began after, and ended before the end of, one that still stands: for the
// time they lasted, the standing one says all there is to say.
func settle(states taint.History) taint.History {
	kept := states[:0]
	standing := false
	for _, state := range states {
		standing = standing || !state.Past
		if standing && state.Past {
			continue
		}
		kept = append(kept, state)
	}
	return kept
}

// bound keeps a history to States states. It first joins past neighbours that no pod tells apart,
// which changes no verdict; where there are none, the oldest state goes, which only makes
// evictions later.
func bound(states taint.History, apart func(a, b *v1.Taint) bool) taint.History {
	for len(states) > States {
		i := joinable(states, apart)
		if i > 0 {
			states[i].Since = states[i-1].Since
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
		if states[i-1].Past && !apart(&states[i-1].Taint, &states[i].Taint) {
			return i
		}
	}
	return 0
}
