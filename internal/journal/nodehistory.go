package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// NodeHistory holds the taints of one node: what this process has observed, and separately what records say. The zero
// value has no taints. A NodeHistory is immutable.
type NodeHistory struct{ list []presence }

// historyOf returns the history of a node with these presences. lastVersion is the node's version at the last
// observation.
func historyOf(list []presence, lastVersion string, apart func(a, b *v1.Taint) bool) NodeHistory {
	for i := range list {
		list[i].history = list[i].joined(lastVersion, apart)
	}
	return NodeHistory{list}
}

// Taints returns one history for each NoExecute taint on the node, with observed and recorded states merged. Callers
// must not modify it.
func (n NodeHistory) Taints() []taint.History { return n.of(noExecute) }

// Triggers returns, in the same way, one history for each NoSchedule taint whose key is among [Keys].Triggers.
func (n NodeHistory) Triggers() []taint.History { return n.of(trigger) }

// Audited returns, in the same way, one history for each NoSchedule taint whose key is among [Keys].Audited only.
func (n NodeHistory) Audited() []taint.History { return n.of(audited) }

// of returns the histories of the taints in a role.
func (n NodeHistory) of(r role) (histories []taint.History) {
	for i := range n.list {
		if n.list[i].role == r {
			histories = append(histories, n.list[i].history)
		}
	}
	return histories
}

// Empty reports whether there are no taints.
func (n NodeHistory) Empty() bool { return len(n.list) == 0 }

// UpTo returns the newest resourceVersion at which the taints are known, for a record of the node. changed is the
// version at which this process last saw the taints change. The version of an adopted record is used instead if it is
// newer, and not newer than lastVersion, the node's version at the last observation.
func (n NodeHistory) UpTo(changed, lastVersion string) string {
	for i := range n.list {
		if recorded := n.list[i].recorded.version; IsNewer(recorded, changed) && reaches(lastVersion, recorded) {
			changed = recorded
		}
	}
	return changed
}

// Observe returns the history after one more observation, and reports whether the history changed.
//
// A taint is identified by its key and effect. not-ready and unreachable count as one taint, because the node lifecycle
// controller swaps them. A taint that an observation lacks is forgotten: if it comes back, it is a new one. A
// NoSchedule taint is also forgotten if its role changes: the exposure to it ends with the policy that names it.
func (n NodeHistory) Observe(s Observation) (NodeHistory, bool) {
	known := slices.DeleteFunc(slices.Clone(n.list), func(p presence) bool { return s.added(&p.seen[0].Taint) })
	var list []presence
	for i := range s.Taints {
		t := &s.Taints[i]
		if r := s.Keys.roleOf(t); r != ignored && presenceOf(list, r, t) == nil {
			these := s.only(r)
			list = append(list, continued(known, r, t, these).observed(t, these))
		}
	}
	if len(known) == len(n.list) && slices.EqualFunc(known, list, samePresence) {
		return NodeHistory{list}, false // a later list may have shown the same
	}
	return historyOf(list, s.Version, s.Distinguishes), true
}

// continued returns the presence that the observed taint continues, or a new presence.
func continued(list []presence, r role, t *v1.Taint, s *Observation) *presence {
	known := presenceOf(list, r, t)
	if known == nil || s.Gap && known.renewed(s) {
		return newPresence(r, t, s)
	}
	return known
}

// Adopt returns the history with a record of the node merged in, and reports whether the history changed. Observed and
// recorded states are kept apart. A record is not used for a taint
//
//   - if the record is of a node with another UID, or does not have that taint;
//   - if this process has seen the taint appear, or has seen the node without it, and the record's writer had not
//     observed the node up to that version, or the versions cannot be compared;
//   - if the record's writer began later, and has seen nothing that this process has seen, or if the record is about
//     another presence of the taint, which this process has not seen yet;
//   - if the taint was found after a gap and after the record was made, and its timeAdded shows that it is another
//     presence.
//
// Records must be adopted in the order of their writings: a later record replaces the states of an earlier record.
// The node should have reached the version of the record. The parameter now describes the last observation of
// the node, at the moment at which the record is read; its Taints are not used.
//
// Up to the writing, a record's age is measured with its writer's clock. From there on it is measured with the
// monotonic clock of this process if this process received the writing. If it found the record, the time since then
// comes from the wall clocks, and the first writing that it receives converts the record once more. All times are
// clamped to the node's lifetime.
func (n NodeHistory) Adopt(r Record, now Observation) (NodeHistory, bool) {
	if r.UID != now.UID {
		return n, false
	}
	list, changed := slices.Clone(n.list), false
	for i := range list {
		if merged, isNew := list[i].after(r.about(&list[i], now.Keys), &r, &now); isNew {
			list[i], changed = merged, true
		}
	}
	if !changed {
		return n, false
	}
	return historyOf(list, now.Version, now.Distinguishes), true
}

// about returns the recorded states of the taint of a presence, without states of keys that are no triggers.
func (r *Record) about(p *presence, keys Keys) taint.History {
	switch t := &p.seen[0].Taint; p.role {
	case noExecute:
		return find(r.Taints, t)
	case trigger:
		return statesOf(keys, trigger, find(r.Triggers, t))
	}
	return nil
}

// Recorded reports whether a record tells since when this taint, of an observed effect, is there.
func (n NodeHistory) Recorded(t *v1.Taint) bool {
	return slices.ContainsFunc(n.list, func(p presence) bool {
		return counts(&p.seen[0].Taint, t) && len(p.recorded.states) > 0
	})
}

// presenceOf returns the presence of the taint in this role, or nil.
func presenceOf(list []presence, r role, t *v1.Taint) *presence {
	for i := range list {
		if list[i].role == r && counts(&list[i].seen[0].Taint, t) {
			return &list[i]
		}
	}
	return nil
}
