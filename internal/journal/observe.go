package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// Look is a moment at which a process looks at a node, or at the record of it.
type Look struct {
	At      skew.Instant
	Created time.Time // the node's creation time by the API server's clock
	Keys    Keys      // the NoSchedule taints that are observed, too

	// LastWatch is when this process last watched before a gap, zero for its first list; or when the writer of the
	// record last watched.
	LastWatch

	// Distinguishes reports whether some pod of the node tolerates one of two states without a limit, but not the
	// other. Nil means that any two states may be distinguished.
	Distinguishes func(a, b *v1.Taint) bool
}

// Observation is what one look at a node shows of its taints.
type Observation struct {
	Look

	// Taints of the node at this moment. Those that are neither NoExecute nor among Keys are ignored.
	Taints []v1.Taint

	// KeysBefore are the keys of the previous observation, which says nothing about keys that it did not have in the
	// same role; nil means that it had the same keys.
	KeysBefore *Keys

	// Version is the node's resourceVersion. Before is its resourceVersion at the previous observation; empty if this
	// is the first observation of the node.
	Version, Before string

	// Gap means that the node may have changed unseen since the previous observation: at the first list of a process,
	// or when a watch could not continue where it broke off. Without a gap the process saw the taint appear, and
	// timeAdded is ignored.
	Gap bool

	// Written, with Gap, is when the list of taints was written according to managedFields; zero if they don't say.
	Written time.Time

	// Unknown, with Gap, is the start of a taint whose timeAdded is not usable. Zero means the moment of the
	// observation, which is the latest possible start.
	Unknown time.Time
}

// group returns the taints in this role that count as one with t.
func (o *Observation) group(r role, t *v1.Taint) (taints []v1.Taint) {
	for i := range o.Taints {
		if counts(&o.Taints[i], t) && o.Keys.roleOf(&o.Taints[i]) == r {
			taints = append(taints, o.Taints[i])
		}
	}
	return taints
}

// added reports whether the previous observation says nothing about the taint, because the taint had no role then, or
// another role. The two taints that the node lifecycle controller swaps are added together.
func (o *Observation) added(t *v1.Taint) bool {
	if o.KeysBefore == nil {
		return false
	}
	keys := []string{t.Key}
	if taint.ReportsOutage(t.Key) {
		keys = []string{v1.TaintNodeNotReady, v1.TaintNodeUnreachable}
	}
	return slices.ContainsFunc(keys, func(key string) bool {
		one := v1.Taint{Key: key, Effect: t.Effect}
		return o.KeysBefore.roleOf(&one) != o.Keys.roleOf(&one)
	})
}

// found reports whether the taint, if it is new, may have been there before this observation.
func (o *Observation) found(t *v1.Taint) bool { return o.Gap || o.added(t) }

// presence returns the presence of a group of taints after this observation; known is the one before, or nil. was and
// list are fingerprints of the node's taints before and now.
func (o *Observation) presence(known *presence, r role, taints []v1.Taint, was, list string) presence {
	next := presence{role: r}
	again := known != nil && o.Gap && known.isAnother(o, taints, was, list)
	if known != nil && !again {
		next = *known
	}
	if o.found(&taints[0]) {
		found := &finding{
			version: o.Version, before: o.Before, taints: taints, at: o.At.Time, list: list, written: o.Written,
		}
		if o.added(&taints[0]) {
			found.before = "" // it was not observed then
		}
		if known != nil && !again {
			next.again = known.through(found)
		} else {
			next.found = found
		}
	}
	before := statesAfter(next.states, taints, o.Version)
	next.states = before
	for i := range taints {
		if !standing(before, &taints[i]) {
			next.states = append(next.states, o.begin(&taints[i], before, again))
		}
	}
	slices.SortStableFunc(next.states, func(a, b TaintState) int { return a.Since.Compare(b.Since) })
	next.states = bound(next.states, o.Distinguishes)
	return next
}

// begin returns the state of a taint that the previous observation did not have. again means that the taint was set
// again in the gap.
func (o *Observation) begin(t *v1.Taint, known []TaintState, again bool) TaintState {
	s := TaintState{
		Taint: *t, Since: o.At.Time, Start: o.At.Late(o.At.Time), From: o.Version, Found: o.found(t),
	}
	if !o.Gap {
		return s
	}
	if !o.Watched.IsZero() {
		s.Relisted, s.Listed = o.At.Time, s.Start
	}
	since, start := o.listed(t, again)
	if len(known) == 0 || since.After(known[len(known)-1].Since) {
		s.Since, s.Start = since, start
	}
	return s
}

// listed returns when a taint that a list shows began, also by the API server's clock: at its timeAdded if that is
// credible. A NoSchedule taint does not count from its timeAdded, but from when a process first saw it while a policy
// made it a trigger. If managedFields show that it was set again, it began then.
func (o *Observation) listed(t *v1.Taint, again bool) (since, start time.Time) {
	added := time.Time{}
	switch {
	case t.TimeAdded == nil && again:
		added = o.Written
	case t.TimeAdded != nil && t.Effect == v1.TaintEffectNoExecute && !t.TimeAdded.Time.Before(o.Created):
		added = t.TimeAdded.Time
	}
	since, start = o.At.Timestamp(added), skew.NextSecond(added).UTC()
	if added.IsZero() || o.At.IsFuture(added) || since.Before(o.Watched) { // the node did not have it then
		since, start = o.At.Time, o.At.Late(o.At.Time)
		if !o.Unknown.IsZero() {
			since, start = o.Unknown, o.Unknown
		}
	}
	return since, start
}
