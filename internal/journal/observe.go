package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/skew"
)

// Keys are the keys of the NoSchedule taints that are observed, because policies name them. The zero value has none.
type Keys struct {
	// Triggers are recorded, and begin exposures. Audited are only shown, unless they are triggers, too.
	Triggers, Audited []string
}

// role is the purpose for which a taint is observed.
type role int

const (
	ignored role = iota
	noExecute
	trigger
	audited
)

func (k Keys) roleOf(t *v1.Taint) role {
	switch {
	case t.Effect == v1.TaintEffectNoExecute:
		return noExecute
	case t.Effect != v1.TaintEffectNoSchedule:
	case slices.Contains(k.Triggers, t.Key):
		return trigger
	case slices.Contains(k.Audited, t.Key):
		return audited
	}
	return ignored
}

// Viewpoint is the moment at which a process reads a node or its record, and what the process knows then.
type Viewpoint struct {
	At      skew.Instant
	Created time.Time // the node's creation time by the API server's clock
	Keys    Keys      // of the NoSchedule taints to observe

	LastWatch // when this process, or a record's writer, last watched; zero at a process's first list

	// Distinguishes reports whether some pod of the node tolerates only one of a and b without a limit. Nil means that
	// any two states may be distinguished.
	Distinguishes func(a, b *v1.Taint) bool
}

// Observation is what a process reads of a node's taints at one moment.
type Observation struct {
	Viewpoint

	Taints  []v1.Taint // of the node; those that are neither NoExecute nor among Keys are ignored
	Renewed []string   // those of Keys that policies dropped and named again since the previous observation
	Version string     // the node's resourceVersion
	Before  string     // its resourceVersion at the previous observation; empty if this is the first one of the node

	// Gap means that the node may have changed unseen since the previous observation: at the first list of a process,
	// or when a watch could not continue where it broke off. Without a gap the process saw the taint appear, and
	// timeAdded is ignored.
	Gap bool

	// Written, with Gap, is when the taints were written according to managedFields; zero if these do not say.
	// DefaultStart, with Gap, is the start of a taint whose timeAdded is not usable; zero means the moment of the
	// observation, which is the latest possible start.
	Written, DefaultStart time.Time
}

// presence returns the presence, after this observation, of taints that count as one. known is the presence before,
// perhaps without states. The fingerprints are of all the node's taints, before and now.
func (o *Observation) presence(known presence, taints []v1.Taint, fingerprintBefore, fingerprint string) presence {
	next, again := known, []TaintState(nil)
	if o.Gap {
		shown := &listing{
			version: o.Version, before: o.Before, taints: taints, at: o.At.Time,
			fingerprint: fingerprint, written: o.Written,
		}
		since := func(s *TaintState) time.Time { return s.Since }
		seen := lastSeen{next.states, since, o.Watched, o.At.Timestamp, fingerprintBefore}
		if known.states != nil && !Reaches(o.Reached, o.Version) && seen.differs(shown) { // set again
			next, again = presence{role: known.role}, known.states
		}
		shown.first = next.states == nil
		next.lists = next.listsWith(shown)
	}
	before := statesAfter(next.states, taints, o.Version)
	next.states = before
	for i := range taints {
		stands := func(s TaintState) bool { return !s.Ended && same(&s.Taint, &taints[i]) }
		if !slices.ContainsFunc(before, stands) {
			next.states = append(next.states, o.begin(&taints[i], before, again))
		}
	}
	slices.SortStableFunc(next.states, func(a, b TaintState) int { return a.Since.Compare(b.Since) })
	next.states = bound(next.states, o.Distinguishes)
	return next
}

// begin returns the state of a taint that the previous observation lacked. again has the states before a gap in which
// the taint was set again; none if it was not.
func (o *Observation) begin(t *v1.Taint, known, again []TaintState) TaintState {
	s := TaintState{Taint: *t, Since: o.At.Time, Start: o.At.Late(o.At.Time), From: o.Version, Found: o.Gap}
	if !o.Gap {
		return s
	}
	if !o.Watched.IsZero() {
		s.Relisted, s.Listed = o.At.Time, s.Start
	}
	since, start := o.DefaultStart, o.DefaultStart
	if added := o.added(t, len(again) > 0); !added.IsZero() {
		since, start = o.At.Timestamp(added), skew.NextSecond(added).UTC()
		if n := len(again); n > 0 {
			since, start = again[n-1].orLater(since, start, o.At)
		}
	}
	if !since.IsZero() && (len(known) == 0 || since.After(known[len(known)-1].Since)) {
		s.Since, s.Start = since, start
	}
	return s
}

// added returns when a listed taint was set: its timeAdded or, if it has none and was replaced in the gap, the time of
// managedFields; zero if that time is not credible. A NoSchedule taint counts from when a process first saw it while a
// policy made it a trigger: its timeAdded is ignored.
func (o *Observation) added(t *v1.Taint, replaced bool) (added time.Time) {
	switch {
	case t.TimeAdded == nil && replaced:
		added = o.Written
	case t.TimeAdded != nil && t.Effect == v1.TaintEffectNoExecute && !t.TimeAdded.Time.Before(o.Created):
		added = t.TimeAdded.Time
	}
	if o.At.IsFuture(added) || o.At.Timestamp(added).Before(o.Watched) { // the node lacked the taint at o.Watched
		return time.Time{}
	}
	return added
}
