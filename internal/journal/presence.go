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
	role      role
	states    []TaintState // sorted by Since
	firstList *listing     // the list that showed it first; nil if the watch showed it
	relists   []*listing   // the lists after gaps that it survived, the newest first
	recorded  bool         // its start is from a record
}

// listing is what a list, the first one or one after a gap of the watch, has shown of a presence.
type listing struct {
	version     string     // of the node
	before      string     // version at which this process saw the node before; empty if never
	taints      []v1.Taint // those of the presence, as listed
	at          time.Time  // carries the monotonic clock
	fingerprint string     // of all taints of the node; empty if each has its timeAdded
	written     time.Time  // when the node's taints were written, according to managedFields
}

// withRelist returns relists with a list after a gap that the presence survived. It replaces the newest one if this
// process has seen no state begin between the two.
func (p *presence) withRelist(next *listing) []*listing {
	if len(p.relists) == 0 {
		return []*listing{next}
	}
	last := p.relists[0]
	if slices.ContainsFunc(p.states, func(s TaintState) bool { return IsNewer(s.From, last.version) }) {
		return append([]*listing{next}, p.relists...)
	}
	next.before = last.before
	return append([]*listing{next}, p.relists[1:]...)
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

// isAnother reports whether a list after a gap shows another presence than this one. before and fingerprint are
// fingerprints of the node's taints before and after the gap.
func (p *presence) isAnother(o *Observation, taints []v1.Taint, before, fingerprint string) bool {
	return !Reaches(o.Reached, o.Version) && // else the node has not changed in the gap
		o.seenByProcess(p.states, before).differs(taints, fingerprint, o.Written)
}

// differs reports whether, as far as the list of a node shows, the taints were removed and set again since.
func (l lastSeen) differs(taints []v1.Taint, fingerprint string, written time.Time) bool {
	rewritten := fingerprint != "" && fingerprint == l.fingerprint &&
		!written.IsZero() && l.timestamp(written).After(l.watched)
	return !slices.ContainsFunc(taints, func(t v1.Taint) bool {
		return !l.isLater(&t) && (t.TimeAdded != nil || !rewritten)
	})
}

// isLater reports whether the taint's timeAdded shows that the known taint was replaced. For not-ready and unreachable
// it shows this only if nobody watched at that time: the node lifecycle controller sets a new timeAdded whenever it
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
