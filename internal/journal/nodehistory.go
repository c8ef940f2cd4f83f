package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// NodeHistory holds the taints of one node, each with its start. The zero value has no taints. A NodeHistory is
// immutable.
type NodeHistory struct {
	presences   []presence
	version     string // as in [Record.Version]
	fingerprint string // of all taints of the node; empty if each observed one has a timeAdded
}

// Taints returns one history for each NoExecute taint on the node. Callers must not modify it.
func (n NodeHistory) Taints() []taint.History { return n.of(noExecute) }

// Triggers returns, in the same way, one history for each NoSchedule taint whose key is among [Keys].Triggers.
func (n NodeHistory) Triggers() []taint.History { return n.of(trigger) }

// Audited returns, in the same way, one history for each NoSchedule taint whose key is among [Keys].Audited only.
func (n NodeHistory) Audited() []taint.History { return n.of(audited) }

func (n NodeHistory) of(r role) (histories []taint.History) {
	for _, p := range n.presences {
		if p.role != r {
			continue
		}
		history := make(taint.History, 0, len(p.states))
		for _, s := range p.states {
			history = append(history, taint.State{Taint: s.Taint, Since: s.Since, Ended: s.Ended, Relisted: s.Relisted})
		}
		histories = append(histories, history)
	}
	return histories
}

// Change says what an observation has changed: History and with it Record, or only Record.
type Change struct{ History, Record bool }

// Observe returns the history after one more observation.
//
// A taint is identified by its key and effect; not-ready and unreachable count as one. A taint is new if the previous
// observation lacked it, or if it is a NoSchedule taint whose role has changed, or that no policy needed for a while.
func (n NodeHistory) Observe(o Observation) (NodeHistory, Change) {
	next := NodeHistory{version: n.version}
	if o.Keys.Untimed(o.Taints) {
		next.fingerprint = fingerprint(o.Taints)
	}
	known := slices.DeleteFunc(slices.Clone(n.presences), func(p presence) bool {
		isRenewed := func(s TaintState) bool { return slices.Contains(o.Renewed, s.Key) }
		return p.role != noExecute && slices.ContainsFunc(p.states, isRenewed)
	})
	for i := range o.Taints {
		t := &o.Taints[i]
		r := o.Keys.roleOf(t)
		if r == ignored || presenceOf(next.presences, r, t).states != nil {
			continue
		}
		taints := slices.DeleteFunc(slices.Clone(o.Taints), func(other v1.Taint) bool {
			return !counts(&other, t) || o.Keys.roleOf(&other) != r
		})
		before := presenceOf(known, r, t)
		next.presences = append(next.presences, o.presence(before, taints, n.fingerprint, next.fingerprint))
	}
	changed := len(known) != len(n.presences) || !slices.EqualFunc(known, next.presences, func(a, b presence) bool {
		return a.role == b.role && equalStates(a.states, b.states)
	})
	if changed || n.version == "" || n.fingerprint != next.fingerprint {
		next.version = o.Version
	}
	return next, Change{History: changed, Record: changed || n.fingerprint != next.fingerprint}
}

// presenceOf returns the presence of the taint in this role; if there is none, a presence without states.
func presenceOf(list []presence, r role, t *v1.Taint) presence {
	i := slices.IndexFunc(list, func(p presence) bool { return p.role == r && counts(&p.states[0].Taint, t) })
	if i < 0 {
		return presence{role: r}
	}
	return list[i]
}

// Origin reports whether the start of this taint is from a record, and whether a list was the first to show the taint.
func (n NodeHistory) Origin(t *v1.Taint) (recorded, found bool) {
	for i := range n.presences {
		if p := &n.presences[i]; counts(&p.states[0].Taint, t) {
			isFound := func(s TaintState) bool { return s.Found && same(&s.Taint, t) }
			recorded, found = recorded || p.recorded, found || slices.ContainsFunc(p.states, isFound)
		}
	}
	return recorded, found
}

// Record returns the record of the node, or false if the node has no taints to record.
func (n NodeHistory) Record(uid types.UID) (Record, bool) {
	r := Record{UID: uid, Version: n.version, List: n.fingerprint}
	for i := range n.presences {
		if p := &n.presences[i]; p.role == noExecute || p.role == trigger {
			r.Taints = append(r.Taints, p.states)
		}
	}
	return r, len(r.Taints) > 0
}
