package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// The sources of a taint's start.
const (
	FromJournal   = "journal"   // a manager has recorded it
	FromTimeAdded = "timeAdded" // the taint's own timeAdded
	FromSight     = "seen"      // it was observed to appear
	FromPlan      = "plan"      // the plan sets it
	// no journal has the start: it is assumed that a manager with the policy first sees the taint now
	FromPolicy = "policy"
	NotKnown   = "unknown" // none of these; it is within a range
)

// nodeEstimate has two views of a node: one in which each taint started as late as possible, and one in which each
// started as early as possible. If the start of a taint is known, the views agree. They also agree on NoSchedule
// taints, which count as if a manager with the policies started now and read the journal.
type nodeEstimate struct {
	latest, earliest nodeView
	taints           []v1.Taint // all taints of the node
}

// nodeView is a node with one possible start for each of its taints.
type nodeView struct {
	taint.Node
	history journal.NodeHistory
}

// estimateOf returns the estimate of a node that is observed for the first time, at this time. If neither the
// journal nor timeAdded shows when a taint started, it started between the node's creation and now.
func estimateOf(by *Ruleset, n *node, j *Journal, at time.Time) nodeEstimate {
	bare := nodeView{Node: taint.Node{Name: n.Name, UID: n.UID, Labels: n.Labels, Created: n.created}}
	first := journal.Observation{
		Viewpoint: journal.Viewpoint{At: skew.Instant{Time: at}, Created: n.created},
		Taints:    n.Taints, Version: n.version, Gap: true, Written: n.written,
	}
	return nodeEstimate{latest: bare, earliest: bare}.observe(by, first, n.created).explained(by, j, at)
}

// observe returns the estimate after an observation; defaultStart is the earliest start of a taint of unknown start.
func (ne nodeEstimate) observe(by *Ruleset, s journal.Observation, defaultStart time.Time) nodeEstimate {
	ne.taints = taint.Normalize(s.Taints)
	s.Taints, s.Keys = ne.taints, by.keys()
	ne.latest.history, _ = ne.latest.history.Observe(s)
	s.DefaultStart = defaultStart
	ne.earliest.history, _ = ne.earliest.history.Observe(s)
	return ne.refreshed()
}

// with returns the estimate after the node is observed with the taints, labels and version of n.
func (ne nodeEstimate) with(by *Ruleset, n *node, at time.Time) nodeEstimate {
	ne.latest.Labels, ne.earliest.Labels = n.Labels, n.Labels
	return ne.observe(by, journal.Observation{
		Viewpoint: journal.Viewpoint{At: skew.Instant{Time: at}}, Taints: n.Taints, Version: n.version,
	}, time.Time{})
}

// explained returns the estimate with the starts from the journal's record of the node, as for a manager that begins to
// lead.
func (ne nodeEstimate) explained(by *Ruleset, j *Journal, at time.Time) nodeEstimate {
	r := j.record(ne.latest.Name)
	for _, view := range []*nodeView{&ne.latest, &ne.earliest} {
		view.history, _ = view.history.ApplyRecord(view.UID, r, journal.Viewpoint{
			Created: view.Created, At: skew.Instant{Time: clockOf(r, at)}, Keys: by.keys(),
			LastWatch: j.lastWatch(view.Name, at),
		})
	}
	return ne.refreshed()
}

// refreshed returns the estimate with the taints of its histories.
func (ne nodeEstimate) refreshed() nodeEstimate {
	latest := ne.latest.history
	for _, view := range []*nodeView{&ne.latest, &ne.earliest} {
		view.Taints, view.Triggers, view.Audited = view.history.Taints(), latest.Triggers(), latest.Audited()
	}
	return ne
}

// from returns the source of the taint's start on the node, even if the taint had another value at first.
func (ne *nodeEstimate) from(t *v1.Taint) string {
	latest, earliest := ne.latest.state(t), ne.earliest.state(t)
	recorded, found := ne.latest.history.Origin(t)
	switch {
	case latest == nil || earliest == nil || earliest.Since.Before(latest.Since):
		return NotKnown
	case recorded:
		return FromJournal
	case t.Effect == v1.TaintEffectNoSchedule && found:
		return FromPolicy
	case t.Effect == v1.TaintEffectNoExecute && isAdded(latest):
		return FromTimeAdded
	}
	return FromSight
}

// isAdded reports whether the state counts from its timeAdded: from the next second after it, or from the observation
// if that was earlier.
func isAdded(s *taint.State) bool {
	return s.Taint.TimeAdded != nil && !s.Since.Before(s.Taint.TimeAdded.Time) &&
		!s.Since.After(skew.NextSecond(s.Taint.TimeAdded.Time))
}

// state returns the present state of a taint; nil if the node does not have the taint.
func (n *nodeView) state(t *v1.Taint) *taint.State {
	states := upTo(t, slices.Concat(n.Taints, n.Triggers, n.Audited))
	if len(states) == 0 {
		return nil
	}
	return &states[len(states)-1]
}

// upTo returns the history of a taint up to its present state; nil if the node does not have the taint.
func upTo(t *v1.Taint, histories []taint.History) taint.History {
	for _, history := range histories {
		for i := range history {
			s := &history[i]
			if !s.Ended && s.Taint.Key == t.Key && s.Taint.Value == t.Value && s.Taint.Effect == t.Effect {
				return history[:i+1]
			}
		}
	}
	return nil
}

// onlyTaint returns the estimate as if the node had only this taint, and the taint's earlier states had ended.
func (ne nodeEstimate) onlyTaint(t *v1.Taint) nodeEstimate {
	ne.taints = []v1.Taint{*t}
	for _, view := range []*nodeView{&ne.latest, &ne.earliest} {
		for _, histories := range []*[]taint.History{&view.Taints, &view.Triggers, &view.Audited} {
			states := slices.Clone(upTo(t, *histories))
			*histories = nil
			if len(states) > 0 {
				*histories = []taint.History{states}
			}
			for i := range len(states) - 1 {
				states[i].Ended = true
			}
		}
	}
	return ne
}
