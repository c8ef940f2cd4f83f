package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// NodeHistory holds the taints of one node: what this process has observed, and separately what records say. The zero
// value has no taints. A NodeHistory is immutable.
type NodeHistory struct {
	presences []presence
	taints    []taint.History
}

// Taints returns one history for each taint on the node, with observed and recorded states merged. Callers must not
// modify it.
func (k NodeHistory) Taints() []taint.History { return k.taints }

// UpTo returns the resourceVersion for a record of the node: changed, at which its taints were last seen to change, or
// the later version of an adopted record, if the last observation, at the version looked, reaches it. Readers ignore a
// record whose version is earlier than that of the last one.
func (k NodeHistory) UpTo(changed, looked string) string {
	for i := range k.presences {
		if recorded := k.presences[i].recorded.version; isNewer(recorded, changed) && reaches(looked, recorded) {
			changed = recorded
		}
	}
	return changed
}

// Observe returns the history after one more observation, and reports whether it changed.
//
// A taint is identified by its key and effect. not-ready and unreachable count as one taint, because the node lifecycle
// controller swaps them. A taint that an observation lacks is forgotten: if it comes back, it is a new one.
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

// presence returns the presence that the observed taint continues, or a new one that begins with the observation.
func (k NodeHistory) presence(t *v1.Taint, s *Observation) *presence {
	known := presenceOf(k.presences, t)
	switch {
	case known == nil, s.Gap && known.renewed(s):
		return newPresence(t, s)
	}
	return known
}

// presenceOf returns the presence of the taint, or nil.
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
