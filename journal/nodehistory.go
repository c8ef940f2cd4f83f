package journal

import (
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// NodeHistory holds the taints of one node: what this process has observed, and separately what records say. The zero
// value has no taints. A NodeHistory is immutable.
type NodeHistory struct {
	taints presences
	more   *noSchedule // nil if there is none
}

// noSchedule holds the NoSchedule taints of one node.
type noSchedule struct{ triggers, audited presences }

// Taints returns one history for each NoExecute taint on the node, with observed and recorded states merged. Callers
// must not modify it.
func (n NodeHistory) Taints() []taint.History { return n.taints.histories }

// Triggers returns, in the same way, one history for each NoSchedule taint whose key is among [Keys].Triggers.
func (n NodeHistory) Triggers() []taint.History {
	if n.more == nil {
		return nil
	}
	return n.more.triggers.histories
}

// Audited returns, in the same way, one history for each NoSchedule taint whose key is among [Keys].Audited.
func (n NodeHistory) Audited() []taint.History {
	if n.more == nil {
		return nil
	}
	return n.more.audited.histories
}

// Empty reports whether there are no taints.
func (n NodeHistory) Empty() bool { return len(n.taints.list) == 0 && n.more == nil }

// UpTo returns the resourceVersion for a record of the node: changed, at which its taints were last seen to change, or
// the later version of an adopted record, if the last observation, at the version looked, reaches it.
func (n NodeHistory) UpTo(changed, looked string) string {
	changed = n.taints.upTo(changed, looked)
	if n.more != nil {
		changed = n.more.triggers.upTo(changed, looked)
	}
	return changed
}

// Observe returns the history after one more observation, and reports whether it changed.
//
// A taint is identified by its key and effect. not-ready and unreachable count as one taint, because the node lifecycle
// controller swaps them. A taint that an observation lacks is forgotten: if it comes back, it is a new one.
func (n NodeHistory) Observe(s Observation) (NodeHistory, bool) {
	taints, changed := n.taints.observe(&s, v1.TaintEffectNoExecute)
	if n.more == nil && !s.Keys.counted(s.Taints) {
		return NodeHistory{taints: taints}, changed
	}
	before := n.noSchedule()
	triggers, changedTriggers := before.triggers.observe(s.only(s.Keys.Triggers), v1.TaintEffectNoSchedule)
	audited, changedAudited := before.audited.observe(s.only(s.Keys.Audited), v1.TaintEffectNoSchedule)
	if !changed && !changedTriggers && !changedAudited {
		return n, false
	}
	return NodeHistory{taints: taints, more: noScheduleOf(triggers, audited)}, true
}

// Adopt returns the history with a record of the node merged in, and reports whether the history changed. What this
// process has observed and what records say are kept apart. A record is not used for a taint
//
//   - if the record is of a node with another UID, or does not have that taint;
//   - if this process has seen the taint appear, or has seen the node without it, and the record's writer had not
//     observed the node up to that version, or the versions cannot be compared;
//   - if the record's writer began later, and has seen nothing that this process has seen, or if the record is about
//     another presence of the taint, which this process has not seen yet;
//   - if the taint was found after a gap and after the record was made, and its timeAdded shows that it is another
//     presence.
//
// Records must be adopted in the order of their writings: a later one replaces what an earlier one has said of a taint.
// The version of a record should be one that the node has reached.
//
// Up to the writing, a record's age is measured with its writer's clock. From there on it is measured with the
// monotonic clock of this process if this process received the writing. If it found the record, the time since then
// comes from the wall clocks, and the first writing that it receives converts the record once more. All times are
// clamped to the node's lifetime.
func (n NodeHistory) Adopt(r Record, now AdoptParams) (NodeHistory, bool) {
	if r.UID != now.UID {
		return n, false
	}
	taints, changed := n.taints.adopt(r.Taints, &r, &now)
	if n.more == nil {
		return NodeHistory{taints: taints}, changed
	}
	triggers, changedTriggers := n.more.triggers.adopt(onlyKeys(now.Keys.Triggers, r.Triggers), &r, &now)
	if !changed && !changedTriggers {
		return n, false
	}
	return NodeHistory{taints: taints, more: noScheduleOf(triggers, n.more.audited)}, true
}

// Recorded reports whether a record tells since when this taint, of an observed effect, is there.
func (n NodeHistory) Recorded(t *v1.Taint) bool {
	list := n.taints.list
	if t.Effect == v1.TaintEffectNoSchedule {
		list = n.noSchedule().triggers.list
	}
	known := presenceOf(list, t)
	return known != nil && len(known.recorded.states) > 0
}

// Restrict returns the history without the NoSchedule taints that do not have one of the keys in the same role, and
// reports whether it changed: the exposure to such a taint ends with the policy that names it. looked is the node's
// version at the last observation.
func (n NodeHistory) Restrict(keys Keys, looked string) (NodeHistory, bool) {
	if n.more == nil {
		return n, false
	}
	triggers, changedTriggers := n.more.triggers.restrict(keys.Triggers, looked)
	audited, changedAudited := n.more.audited.restrict(keys.Audited, looked)
	if !changedTriggers && !changedAudited {
		return n, false
	}
	return NodeHistory{taints: n.taints, more: noScheduleOf(triggers, audited)}, true
}

func (n NodeHistory) noSchedule() noSchedule {
	if n.more == nil {
		return noSchedule{}
	}
	return *n.more
}

func noScheduleOf(triggers, audited presences) *noSchedule {
	if len(triggers.list)+len(audited.list) == 0 {
		return nil
	}
	return &noSchedule{triggers, audited}
}

// onlyKeys returns the histories of taints with these keys.
func onlyKeys(keys []string, histories []taint.History) (kept []taint.History) {
	for _, h := range histories {
		if states := statesOf(keys, h); len(states) > 0 {
			kept = append(kept, states)
		}
	}
	return kept
}
