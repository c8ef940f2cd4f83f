package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// The sources of a taint's start.
const (
	FromJournal   = "journal"   // a manager has recorded it
	FromTimeAdded = "timeAdded" // the taint's own timeAdded
	FromSight     = "seen"      // it was observed to appear
	FromPlan      = "plan"      // the plan sets it
	FromPolicy    = "policy"    // it counts from when a manager with the policy sees it, as if that were now
	NotKnown      = "unknown"   // none of these; it is within a range
)

// nodeEstimate has two views of a node: one in which each taint started as late as possible, and one in which each
// started as early as possible. If the start of a taint is known, the views agree.
type nodeEstimate struct {
	latest, earliest nodeView

	recorded Recorded
}

// nodeView is a node with one of the possible starts of its taints.
type nodeView struct {
	taint.Node
	history journal.NodeHistory
}

// estimateOf returns the estimate of a node that is observed for the first time, at this time. A taint whose start
// neither the journal nor timeAdded shows started between the node's creation and now.
func estimateOf(n *v1.Node, r Recorded, at time.Time) nodeEstimate {
	k := nodeEstimate{latest: viewOf(n), earliest: viewOf(n)}
	look := journal.Observation{Taints: n.Spec.Taints, At: at, Created: k.latest.Created, Version: n.ResourceVersion, Gap: true}
	k.latest.see(look)
	look.Unknown = n.CreationTimestamp.Time
	k.earliest.see(look)
	return k.adopt(r, at)
}

// viewOf returns the node without taints.
func viewOf(n *v1.Node) nodeView {
	return nodeView{Node: taint.Node{Name: n.Name, UID: n.UID, Labels: n.Labels, Created: n.CreationTimestamp.Time, Version: n.ResourceVersion}}
}

// see adds an observation, and reports whether it has changed the history.
func (p *nodeView) see(s journal.Observation) bool {
	s.Taints = taint.Normalize(s.Taints)
	now, changed := p.history.Observe(s)
	if changed {
		p.history, p.Taints, p.Version = now, now.Taints(), s.Version
	}
	return changed
}

// estimateFromRecord returns the estimate of a node that only the journal knows.
func estimateFromRecord(name string, r Recorded) nodeEstimate {
	node := nodeView{Node: taint.Node{Name: name, UID: r.UID, Version: r.Version, Taints: r.Taints}}
	return nodeEstimate{latest: node, earliest: node, recorded: r}
}

// adopt merges the journal's record into the estimate, as a manager does.
func (k nodeEstimate) adopt(r Recorded, at time.Time) nodeEstimate {
	for _, p := range []*nodeView{&k.latest, &k.earliest} {
		p.history, _ = p.history.Adopt(r.Record, journal.AdoptParams{UID: p.UID, Created: p.Created, Version: p.Version, At: r.clock(at), Watched: r.watched(at)})
		p.Taints = p.history.Taints()
	}
	k.recorded = r
	return k
}

// with returns the estimate after the node is observed with the taints, labels and version of n.
func (k nodeEstimate) with(by *Basis, n *v1.Node, at time.Time) nodeEstimate {
	look := journal.Observation{Taints: n.Spec.Taints, At: at, Version: n.ResourceVersion}
	k.latest.see(look)
	k.earliest.see(look)
	k.latest.Labels, k.earliest.Labels = n.Labels, n.Labels
	return k.withTriggers(by, n.Spec.Taints, at)
}

// withTriggers returns the estimate with the NoSchedule taints that policies make triggers. One that was not there
// counts from this time: timeAdded does not count for them, but when a manager with such a policy first saw them.
func (k nodeEstimate) withTriggers(by *Basis, taints []v1.Taint, at time.Time) nodeEstimate {
	var now []taint.History
	for i := range taints {
		t := &taints[i]
		if !by.triggers(t) {
			continue
		}
		state := taint.State{Taint: *t, Since: at}
		before := historyOf(k.latest.Triggers, t)
		switch {
		case before == nil:
			now = append(now, taint.History{state})
		case stands(&before[len(before)-1], t):
			now = append(now, before)
		default:
			now = append(now, append(ended(before), state))
		}
	}
	k.latest.Triggers, k.earliest.Triggers = now, now
	return k
}

// ended returns a copy of the history in which all states have ended.
func ended(h taint.History) taint.History {
	h = slices.Clone(h)
	for i := range h {
		h[i].Ended = true
	}
	return h
}

// from returns the source of the start of a taint of the node, even if the taint had another value at first.
func (k *nodeEstimate) from(t *v1.Taint) string {
	if t.Effect == v1.TaintEffectNoSchedule {
		return FromPolicy
	}
	latest, earliest := stateOf(k.latest.Taints, t), stateOf(k.earliest.Taints, t)
	switch {
	case latest == nil || earliest == nil || earliest.Since.Before(latest.Since):
		return NotKnown
	case slices.ContainsFunc(historyOf(k.latest.Taints, t), k.isRecorded):
		return FromJournal
	case isAdded(latest):
		return FromTimeAdded
	case k.recorded.UID == k.latest.UID && stateOf(k.recorded.Taints, t) != nil:
		return FromJournal // clamped to the node's lifetime
	}
	return FromSight
}

// isAdded reports whether the state counts from its timeAdded: from the second after it, or from the observation,
// if that was earlier.
func isAdded(s *taint.State) bool {
	return s.Taint.TimeAdded != nil && !s.Since.Before(s.Taint.TimeAdded.Time) && !s.Since.After(journal.NextSecond(s.Taint.TimeAdded.Time))
}

// isRecorded reports whether the journal has this very state of this very node.
func (k *nodeEstimate) isRecorded(s taint.State) bool {
	return k.recorded.UID == k.latest.UID && slices.ContainsFunc(historyOf(k.recorded.Taints, &s.Taint), func(r taint.State) bool {
		return r.Since.Equal(s.Since) && r.Taint.MatchTaint(&s.Taint) && r.Taint.Value == s.Taint.Value
	})
}

// historyOf returns the history that has a state of the taint, past or not, or nil.
func historyOf(histories []taint.History, t *v1.Taint) taint.History {
	for _, history := range histories {
		if slices.ContainsFunc(history, func(s taint.State) bool { return s.Taint.MatchTaint(t) }) {
			return history
		}
	}
	return nil
}

// stateOf returns the present state of the taint on the node, or nil.
func stateOf(histories []taint.History, t *v1.Taint) *taint.State {
	for _, history := range histories {
		for i := range history {
			if stands(&history[i], t) {
				return &history[i]
			}
		}
	}
	return nil
}

func stands(s *taint.State, t *v1.Taint) bool {
	return !s.Ended && s.Taint.Key == t.Key && s.Taint.Value == t.Value && s.Taint.Effect == t.Effect
}

// all returns the histories of all taints because of which pods may have to go.
func (p *nodeView) all() []taint.History { return slices.Concat(p.Taints, p.Triggers) }
