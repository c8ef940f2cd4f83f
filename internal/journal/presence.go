package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// presence is one taint's uninterrupted stay on a node, as far as known.
type presence struct {
	role     role
	states   []TaintState // sorted by Since
	lists    []*listing   // that showed it after a time in which this process did not watch, the newest first
	recorded bool         // its start is from a record
}

// listing is what a list, the first one or one after a gap of the watch, has shown of a presence.
type listing struct {
	first       bool       // it was the first to show the presence
	version     string     // of the node
	before      string     // version at which this process saw the node before; empty if never
	taints      []v1.Taint // those of the presence, as listed
	at          time.Time  // carries the monotonic clock
	fingerprint string     // of all taints of the node; empty if each has its timeAdded
	written     time.Time  // when the node's taints were written, according to managedFields
}

// listsWith returns the lists with the next one. If the presence has survived both gaps before the last two, and no
// state has begun between them, they count as one.
func (p *presence) listsWith(next *listing) []*listing {
	hasBegun := func(s TaintState) bool { return IsNewer(s.From, p.lists[0].version) }
	if len(p.lists) == 0 || p.lists[0].first || slices.ContainsFunc(p.states, hasBegun) {
		return append([]*listing{next}, p.lists...)
	}
	next.before = p.lists[0].before
	return append([]*listing{next}, p.lists[1:]...)
}

// lastSeen is what a process knew of a presence when it, or the writer of a record, last watched the node.
type lastSeen struct {
	states      []TaintState
	watched     time.Time
	fingerprint string // as in a listing

	// timestamp and start return a timestamp of the API, and the start of a state, on the clock of watched.
	timestamp func(time.Time) time.Time
	start     func(*TaintState) time.Time
}

// seenByProcess returns what this process knew when it last watched, on its monotonic clock.
func (o *Observation) seenByProcess(states []TaintState, fingerprint string) lastSeen {
	return lastSeen{states, o.Watched, fingerprint, o.At.Timestamp, func(s *TaintState) time.Time { return s.Since }}
}

// seenByWriter returns what the writer of a record knew when it last watched, on the API server's clock.
func (v *Viewpoint) seenByWriter(states []TaintState, fingerprint string) lastSeen {
	return lastSeen{states, v.Watched, fingerprint, skew.NextSecond, func(s *TaintState) time.Time { return s.Start }}
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
// it shows this only if nobody watched at that time: the node lifecycle controller sets a new timeAdded whenever it
// swaps the two, and after it has restarted.
func (l lastSeen) isLater(t *v1.Taint) bool {
	if t.TimeAdded == nil {
		return false
	}
	added := l.timestamp(t.TimeAdded.Time)
	if taint.ReportsOutage(t.Key) && !added.After(l.watched) {
		return false
	}
	return !slices.ContainsFunc(l.states, func(s TaintState) bool {
		isSame := same(&s.Taint, t) && t.TimeAdded.Equal(s.Taint.TimeAdded)
		return isSame || !added.After(l.start(&s))
	})
}
