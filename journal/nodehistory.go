package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// NodeHistory is what is known of the taints on one node: what this process has seen itself, and beside it what
// a record has told. The zero value knows of no taint. It is immutable.
type NodeHistory struct {
	presences []presence
	taints    []taint.History
}

// Taints holds one history for each taint that is on the node: what was seen and what was told, as one.
// It is not to be written to.
func (k NodeHistory) Taints() []taint.History { return k.taints }

// Observe is what is known after one more look, and whether that is anything new.
//
// A taint is its key and effect. not-ready and unreachable count as one, because the node lifecycle
// controller swaps them. A taint that is gone from a sighting is forgotten: when it comes back, it
// is new.
func (k NodeHistory) Observe(s Observation) (NodeHistory, bool) {
	var lives []presence
	for i := range s.Taints {
		t := &s.Taints[i]
		if t.Effect == v1.TaintEffectNoExecute && presenceOf(lives, t) == nil {
			lives = append(lives, k.presence(t, &s).observed(t, &s))
		}
	}
	if slices.EqualFunc(k.presences, lives, samePresence) {
		return k, false
	}
	return historyOf(lives, s.Version, s.Distinguishes), true
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

// presenceOf is the life of the taint, or nil.
func presenceOf(lives []presence, t *v1.Taint) *presence {
	for i := range lives {
		if counts(&lives[i].seen[0].Taint, t) {
			return &lives[i]
		}
	}
	return nil
}

// historyOf is what these lives come to. Looked is the node's version at the last look.
func historyOf(lives []presence, looked string, apart func(a, b *v1.Taint) bool) NodeHistory {
	taints := make([]taint.History, len(lives))
	for i := range lives {
		lives[i].history = lives[i].joined(looked, apart)
		taints[i] = lives[i].history
	}
	return NodeHistory{presences: lives, taints: taints}
}
