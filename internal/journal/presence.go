package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// presence is the known uninterrupted stay of taints that count as one.
type presence struct {
	role     role
	states   []TaintState // sorted by Since
	lists    []*listing   // the LISTs that showed it after gaps, the newest first
	recorded bool         // its start is from a record
}

// listing is what a list, the first one or one after a gap of the watch, has shown of a presence.
type listing struct {
	first       bool       // it was the first to show the presence
	version     string     // of the node
	before      string     // version at which this process saw the node before; empty if never
	taints      []v1.Taint // those of the presence, as listed
	at          time.Time  // carries the monotonic clock
	fingerprint string     // of all taints of the node; empty if each observed one has its timeAdded
	written     time.Time  // when the node's taints were written, according to managedFields
}

// listsWith returns the lists with the next one. If the latest list was not the first to show the presence, and no
// state began since, next replaces it.
func (p *presence) listsWith(next *listing) []*listing {
	hasBegun := func(s TaintState) bool { return IsNewer(s.From, p.lists[0].version) }
	if len(p.lists) == 0 || p.lists[0].first || slices.ContainsFunc(p.states, hasBegun) {
		return append([]*listing{next}, p.lists...)
	}
	next.before = p.lists[0].before
	return append([]*listing{next}, p.lists[1:]...)
}

// lastSeen is what this process, or the writer of a record, knew of a presence when it last watched the node. All times
// are on the monotonic clock of this process, or all on the API server's clock.
type lastSeen struct {
	states      []TaintState
	start       func(*TaintState) time.Time // of a state
	watched     time.Time
	timestamp   func(time.Time) time.Time // converts a timestamp of the API to the clock of these times
	fingerprint string                    // as in a listing
}

// differs reports whether, as far as the list shows, all taints of the presence were removed and set again since.
func (l lastSeen) differs(shown *listing) bool {
	rewritten := l.fingerprint != "" && l.fingerprint == shown.fingerprint &&
		!shown.written.IsZero() && l.timestamp(shown.written).After(l.watched)
	return !slices.ContainsFunc(shown.taints, func(t v1.Taint) bool {
		return !l.isLater(&t) && (t.TimeAdded != nil || !rewritten)
	})
}

// isLater reports whether the taint's timeAdded shows that the known taint was replaced. For not-ready and unreachable
// it does so only if nobody watched then: the node lifecycle controller also renews timeAdded without a removal, when
// it swaps the two or has restarted.
func (l lastSeen) isLater(t *v1.Taint) bool {
	if t.TimeAdded == nil {
		return false
	}
	added := l.timestamp(t.TimeAdded.Time)
	if taint.ReportsOutage(t.Key) && !added.After(l.watched) {
		return false
	}
	return !slices.ContainsFunc(l.states, func(s TaintState) bool {
		isSame := same(&s.Taint, t) && t.TimeAdded.Equal(s.TimeAdded)
		return isSame || !added.After(l.start(&s))
	})
}

const maxStates = 8 // of one taint, at most

// statesAfter returns the states after an observation, at this version, of these taints: other states have Ended.
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

// dropCovered drops each ended state throughout which an earlier state stood: it decides nothing any more.
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
