package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// The sources of a taint's start.
const (
	FromJournal   = "journal"   // a manager has recorded it
	FromTimeAdded = "timeAdded" // the taint's own timeAdded
	FromSight     = "seen"      // it was observed to appear
	FromPlan      = "plan"      // the plan sets it
	// no journal has it: it counts from when a manager with the policy sees it, as if that were now
	FromPolicy = "policy"
	NotKnown   = "unknown" // none of these; it is within a range
)

// nodeEstimate has two views of a node: one in which each taint started as late as possible, and one in which each
// started as early as possible. If the start of a taint is known, the views agree. They also agree on triggers, which
// count as if a manager with the policies began now, and read the journal.
type nodeEstimate struct{ latest, earliest nodeView }

// nodeView is a node with one of the possible starts of its taints.
type nodeView struct {
	taint.Node
	history journal.NodeHistory
}

// estimateOf returns the estimate of a node that is observed for the first time, at this time. A taint whose start
// neither the journal nor timeAdded shows started between the node's creation and now.
func estimateOf(by *Ruleset, n *v1.Node, r journal.Record, at time.Time) nodeEstimate {
	k := nodeEstimate{latest: viewOf(n), earliest: viewOf(n)}
	first := journal.Observation{
		Taints: n.Spec.Taints, At: at, Created: k.latest.Created, Version: n.ResourceVersion,
		Gap: true,
	}
	return k.observe(by, first, n.CreationTimestamp.Time).adopt(by, r, at)
}

// viewOf returns the node without taints.
func viewOf(n *v1.Node) nodeView {
	return nodeView{Node: taint.Node{
		Name: n.Name, UID: n.UID, Labels: n.Labels, Created: n.CreationTimestamp.Time,
		Version: n.ResourceVersion,
	}}
}

// observe returns the estimate after an observation. Of a taint whose start it does not show, unknown is the earliest
// one.
func (ne nodeEstimate) observe(by *Ruleset, s journal.Observation, unknown time.Time) nodeEstimate {
	s.Taints, s.Keys = taint.Normalize(s.Taints), by.keys()
	ne.latest.history, _ = ne.latest.history.Observe(s)
	s.Unknown = unknown
	ne.earliest.history, _ = ne.earliest.history.Observe(s)
	ne.latest.Version, ne.earliest.Version = s.Version, s.Version
	return ne.refreshed()
}

// adopt merges the journal's record into the estimate, as a manager does.
func (ne nodeEstimate) adopt(by *Ruleset, r journal.Record, at time.Time) nodeEstimate {
	for _, p := range []*nodeView{&ne.latest, &ne.earliest} {
		p.history, _ = p.history.Adopt(r, journal.Observation{
			UID: p.UID, Created: p.Created, Version: p.Version, At: clockOf(r, at), Watched: watched(r, at),
			Keys: by.keys(),
		})
	}
	return ne.refreshed()
}

// refreshed returns the estimate with the taints of its histories.
func (ne nodeEstimate) refreshed() nodeEstimate {
	for _, p := range []*nodeView{&ne.latest, &ne.earliest} {
		p.Taints, p.Triggers, p.Audited = p.history.Taints(), ne.latest.history.Triggers(), ne.latest.history.Audited()
	}
	return ne
}

// with returns the estimate after the node is observed with the taints, labels and version of n.
func (ne nodeEstimate) with(by *Ruleset, n *v1.Node, at time.Time) nodeEstimate {
	ne = ne.observe(by, journal.Observation{Taints: n.Spec.Taints, At: at, Version: n.ResourceVersion}, time.Time{})
	ne.latest.Labels, ne.earliest.Labels = n.Labels, n.Labels
	return ne
}

// from returns the source of the start of a taint of the node, even if the taint had another value at first.
func (ne *nodeEstimate) from(t *v1.Taint) string {
	latest, earliest := stateOf(ne.latest.histories(), t), stateOf(ne.earliest.histories(), t)
	switch {
	case latest == nil || earliest == nil || earliest.Since.Before(latest.Since):
		return NotKnown
	case ne.latest.history.Recorded(t):
		return FromJournal
	case t.Effect == v1.TaintEffectNoSchedule && latest.FoundInList:
		return FromPolicy
	case t.Effect == v1.TaintEffectNoExecute && isAdded(latest):
		return FromTimeAdded
	}
	return FromSight
}

// isAdded reports whether the state counts from its timeAdded: from the second after it, or from the observation,
// if that was earlier.
func isAdded(s *taint.State) bool {
	return s.Taint.TimeAdded != nil && !s.Since.Before(s.Taint.TimeAdded.Time) &&
		!s.Since.After(journal.NextSecond(s.Taint.TimeAdded.Time))
}

// stateOf returns the present state of the taint on the node, or nil.
func stateOf(histories []taint.History, t *v1.Taint) *taint.State {
	for _, history := range histories {
		for i := range history {
			if isPresent(&history[i], t) {
				return &history[i]
			}
		}
	}
	return nil
}

func isPresent(s *taint.State, t *v1.Taint) bool {
	return !s.Ended && s.Taint.Key == t.Key && s.Taint.Value == t.Value && s.Taint.Effect == t.Effect
}

// histories returns the histories of all taints because of which pods may have to go.
func (n *nodeView) histories() []taint.History { return slices.Concat(n.Taints, n.Triggers, n.Audited) }

// onlyTaint returns the estimate with this one taint only, and its earlier states.
func (ne nodeEstimate) onlyTaint(t *v1.Taint) nodeEstimate {
	for _, view := range []*nodeView{&ne.latest, &ne.earliest} {
		view.Taints, view.Triggers, view.Audited = onlyTaint(view.Taints, t), onlyTaint(view.Triggers, t),
			onlyTaint(view.Audited, t)
	}
	return ne
}

// onlyTaint returns the history of the taint up to it, in which all states before it have ended; none if the taint
// is not on the node.
func onlyTaint(histories []taint.History, t *v1.Taint) []taint.History {
	for _, history := range histories {
		for i := range history {
			if !isPresent(&history[i], t) {
				continue
			}
			states := slices.Clone(history[:i+1])
			for j := range i {
				states[j].Ended = true
			}
			return []taint.History{states}
		}
	}
	return nil
}
