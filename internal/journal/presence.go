package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// presence is the presence of one taint on one node, without an interruption that is known.
type presence struct {
	role     role
	states   []TaintState // sorted by Since
	found    *finding     // the list that showed it first; nil if this process has seen it appear
	again    []*finding   // the lists after gaps through which it continued, the newest first
	recorded bool         // its start is a record's
}

// finding is a list, the first one or one after a gap of the watch, that has shown a presence.
type finding struct {
	version string     // of the node
	before  string     // version of the node when this process saw it last before; empty if it never had
	taints  []v1.Taint // those of the presence, as they were found
	at      time.Time  // carries the monotonic clock
	list    string     // fingerprint of all taints of the node; empty if each has its timeAdded
	written time.Time  // when that list was written, according to managedFields
}

// through returns the lists after gaps through which the presence continued, with another one. Two lists are one
// finding if this process has seen no state begin between them.
func (p *presence) through(next *finding) []*finding {
	if len(p.again) == 0 {
		return []*finding{next}
	}
	last := p.again[0]
	if slices.ContainsFunc(p.states, func(s TaintState) bool { return IsNewer(s.From, last.version) }) {
		return append([]*finding{next}, p.again...)
	}
	next.before = last.before
	return append([]*finding{next}, p.again[1:]...)
}

// lastSeen is what a process knew of a presence when it, or the writer of a record, last watched the node.
type lastSeen struct {
	states  []TaintState
	watched time.Time
	list    string // as in a finding

	// timestamp and start return a timestamp of the API, and the start of a state, on the clock of watched.
	timestamp func(time.Time) time.Time
	start     func(*TaintState) time.Time
}

// bySelf returns what this process knew when it last watched, on its monotonic clock.
func (o *Observation) bySelf(states []TaintState, list string) lastSeen {
	return lastSeen{states, o.Watched, list, o.At.Timestamp, func(s *TaintState) time.Time { return s.Since }}
}

// byRecord returns what the writer of a record knew, on the API server's clock.
func (l *Look) byRecord(states []TaintState, list string) lastSeen {
	return lastSeen{states, l.Watched, list, skew.NextSecond, func(s *TaintState) time.Time { return s.Start }}
}

// isAnother reports whether a list after a gap shows another presence than this one. before and list are fingerprints
// of the node's taints before and after the gap.
func (p *presence) isAnother(o *Observation, taints []v1.Taint, before, list string) bool {
	return !Reaches(o.Reached, o.Version) && // else the node has not changed in the gap
		o.bySelf(p.states, before).differs(taints, list, o.Written)
}

// differs reports whether, as far as the list of a node shows, the taints were removed and set again since.
func (l lastSeen) differs(taints []v1.Taint, list string, written time.Time) bool {
	rewritten := list != "" && list == l.list && !written.IsZero() && l.timestamp(written).After(l.watched)
	return !slices.ContainsFunc(taints, func(t v1.Taint) bool {
		return !l.isLater(&t) && (t.TimeAdded != nil || !rewritten)
	})
}

// isLater reports whether the taint's timeAdded shows that the known taint was replaced. For not-ready and unreachable
// it shows this only if nobody watched at that time: the node lifecycle controller sets timeAdded anew whenever it
// swaps the two, and after it has restarted.
func (l lastSeen) isLater(t *v1.Taint) bool {
	if t.TimeAdded == nil || l.hasExactly(t) {
		return false
	}
	added := l.timestamp(t.TimeAdded.Time)
	if taint.ReportsOutage(t.Key) && !added.After(l.watched) {
		return false
	}
	return !slices.ContainsFunc(l.states, func(s TaintState) bool { return !added.After(l.start(&s)) })
}

// hasExactly reports whether the states have the taint with exactly this timeAdded.
func (l lastSeen) hasExactly(t *v1.Taint) bool {
	return slices.ContainsFunc(l.states, func(s TaintState) bool {
		return same(&s.Taint, t) && t.TimeAdded.Equal(s.Taint.TimeAdded)
	})
}
