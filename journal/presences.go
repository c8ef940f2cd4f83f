package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// presences are the presences of the taints of one effect on one node. They are immutable.
type presences struct {
	list      []presence
	histories []taint.History // of each
}

// presencesOf returns the presences with their histories. looked is the node's version at the last observation.
func presencesOf(list []presence, looked string, apart func(a, b *v1.Taint) bool) presences {
	histories := make([]taint.History, len(list))
	for i := range list {
		list[i].history = list[i].joined(looked, apart)
		histories[i] = list[i].history
	}
	return presences{list, histories}
}

// observe returns the presences after one more observation of the taints of this effect, and reports whether they
// changed.
func (p presences) observe(s *Observation, effect v1.TaintEffect) (presences, bool) {
	var list []presence
	for i := range s.Taints {
		t := &s.Taints[i]
		if t.Effect == effect && presenceOf(list, t) == nil {
			list = append(list, p.continued(t, s).observed(t, s))
		}
	}
	if slices.EqualFunc(p.list, list, samePresence) {
		return p, false
	}
	return presencesOf(list, s.Version, s.Distinguishes), true
}

// continued returns the presence that the observed taint continues, or a new one that begins with the observation.
func (p presences) continued(t *v1.Taint, s *Observation) *presence {
	known := presenceOf(p.list, t)
	switch {
	case known == nil, s.Gap && known.renewed(s):
		return newPresence(t, s)
	}
	return known
}

// adopt merges the recorded histories into the presences, and reports whether that changes anything.
func (p presences) adopt(recorded []taint.History, r *Record, now *AdoptParams) (presences, bool) {
	list := slices.Clone(p.list)
	changed := false
	for i := range list {
		theirs := find(recorded, &list[i].seen[0].Taint)
		if theirs == nil {
			continue
		}
		if merged, isNew := list[i].after(theirs, r, now); isNew {
			list[i], changed = merged, true
		}
	}
	if !changed {
		return p, false
	}
	return presencesOf(list, now.Version, now.Distinguishes), true
}

// restrict returns the presences without the states of taints with other keys, and reports whether that changes
// anything.
func (p presences) restrict(keys []string, looked string) (presences, bool) {
	var list []presence
	changed := false
	for i := range p.list {
		l := p.list[i].restricted(keys)
		changed = changed || len(l.seen) < len(p.list[i].seen) ||
			len(l.recorded.states) < len(p.list[i].recorded.states)
		if standingAny(l.seen) {
			list = append(list, l)
		}
	}
	if !changed {
		return p, false
	}
	return presencesOf(list, looked, nil), true
}

// upTo is [NodeHistory.UpTo] for these presences.
func (p presences) upTo(changed, looked string) string {
	for i := range p.list {
		if recorded := p.list[i].recorded.version; isNewer(recorded, changed) && reaches(looked, recorded) {
			changed = recorded
		}
	}
	return changed
}

// presenceOf returns the presence of the taint, or nil.
func presenceOf(list []presence, t *v1.Taint) *presence {
	for i := range list {
		if counts(&list[i].seen[0].Taint, t) {
			return &list[i]
		}
	}
	return nil
}

func standingAny(states taint.History) bool {
	return slices.ContainsFunc(states, func(s taint.State) bool { return !s.Ended })
}
