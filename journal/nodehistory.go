package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// NodeHistory holds the taints of one node: what this process has observed, and beside it what records say. The zero
// value has no taint. It is immutable.
type NodeHistory struct {
	presences []presence
	taints    []taint.History
}

// Taints holds one history for each taint that is on the node: what was seen and what was recorded, as one.
// It is not to be written to.
func (k NodeHistory) Taints() []taint.History { return k.taints }

// UpTo returns the resourceVersion that a record of the node is to have: changed, at which its taints were last seen to
// change, or a later one of a record that was adopted, if the last look, at the version looked, reaches that. A reader
// passes over a record of an earlier version than that of the last one.
func (k NodeHistory) UpTo(changed, looked string) string {
	for i := range k.presences {
		if recorded := k.presences[i].recorded.version; isNewer(recorded, changed) && reaches(looked, recorded) {
			changed = recorded
		}
	}
	return changed
}

// Observe is what is known after one more look, and whether that is anything new.
//
// A taint is its key and effect. not-ready and unreachable count as one, because the node lifecycle
// controller swaps them. A taint that is gone from a sighting is forgotten: when it comes back, it
// is new.
func (k NodeHistory) Observe(s Observation) (NodeHistory, bool) {
	var presences []presence
	for i := range s.Taints {
		t := &s.Taints[i]
		if t.Effect == v1.TaintEffectNoExecute && presenceOf(presences, t) == nil {
			presences = append(presences, k.presence(t, &s).observed(t, &s))
		}
	}
	if slices.EqualFunc(k.presences, presences, samePresence) {
		return k, false
	}
	return historyOf(presences, s.Version, s.Distinguishes), true
}

// presence is the one that the taint in the sighting continues, or one that begins with it.
func (k NodeHistory) presence(t *v1.Taint, s *Observation) *presence {
	known := presenceOf(k.presences, t)
	switch {
	case known == nil, s.Gap && known.renewed(s):
		return newPresence(t, s)
	}
	return known
}

// presenceOf is the presence of the taint, or nil.
func presenceOf(presences []presence, t *v1.Taint) *presence {
	for i := range presences {
		if counts(&presences[i].seen[0].Taint, t) {
			return &presences[i]
		}
	}
	return nil
}

// historyOf returns the history with these presences. looked is the node's version at the last observation.
func historyOf(presences []presence, looked string, apart func(a, b *v1.Taint) bool) NodeHistory {
	taints := make([]taint.History, len(presences))
	for i := range presences {
		presences[i].history = presences[i].joined(looked, apart)
		taints[i] = presences[i].history
	}
	return NodeHistory{presences: presences, taints: taints}
}
