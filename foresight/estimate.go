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
	FromPolicy    = "policy"    // no journal has it: it counts from when a manager with the policy sees it, as if that were now
	NotKnown      = "unknown"   // none of these; it is within a range
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
	look := journal.Observation{Taints: n.Spec.Taints, At: at, Created: k.latest.Created, Version: n.ResourceVersion, Gap: true}
	return k.see(by, look, n.CreationTimestamp.Time).adopt(by, r, at)
}

// viewOf returns the node without taints.
func viewOf(n *v1.Node) nodeView {
	return nodeView{Node: taint.Node{Name: n.Name, UID: n.UID, Labels: n.Labels, Created: n.CreationTimestamp.Time, Version: n.ResourceVersion}}
}

// see returns the estimate after an observation. Of a taint whose start it does not show, unknown is the earliest one.
func (k nodeEstimate) see(by *Ruleset, s journal.Observation, unknown time.Time) nodeEstimate {
	s.Taints, s.Keys = taint.Normalize(s.Taints), by.keys()
	k.latest.history, _ = k.latest.history.Observe(s)
	s.Unknown = unknown
	k.earliest.history, _ = k.earliest.history.Observe(s)
	k.latest.Version, k.earliest.Version = s.Version, s.Version
	return k.taken()
}

// adopt merges the journal's record into the estimate, as a manager does.
func (k nodeEstimate) adopt(by *Ruleset, r journal.Record, at time.Time) nodeEstimate {
	for _, p := range []*nodeView{&k.latest, &k.earliest} {
		p.history, _ = p.history.Adopt(r, journal.AdoptParams{
			UID: p.UID, Created: p.Created, Version: p.Version, At: clockOf(r, at), Watched: watched(r, at), Keys: by.keys(),
		})
	}
	return k.taken()
}

// taken returns the estimate with the taints of its histories.
func (k nodeEstimate) taken() nodeEstimate {
	for _, p := range []*nodeView{&k.latest, &k.earliest} {
		p.Taints, p.Triggers, p.Audited = p.history.Taints(), k.latest.history.Triggers(), k.latest.history.Audited()
	}
	return k
}

// with returns the estimate after the node is observed with the taints, labels and version of n.
func (k nodeEstimate) with(by *Ruleset, n *v1.Node, at time.Time) nodeEstimate {
	k = k.see(by, journal.Observation{Taints: n.Spec.Taints, At: at, Version: n.ResourceVersion}, time.Time{})
	k.latest.Labels, k.earliest.Labels = n.Labels, n.Labels
	return k
}

// from returns the source of the start of a taint of the node, even if the taint had another value at first.
func (k *nodeEstimate) from(t *v1.Taint) string {
	latest, earliest := stateOf(k.latest.all(), t), stateOf(k.earliest.all(), t)
	switch {
	case latest == nil || earliest == nil || earliest.Since.Before(latest.Since):
		return NotKnown
	case k.latest.history.Recorded(t):
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
	return s.Taint.TimeAdded != nil && !s.Since.Before(s.Taint.TimeAdded.Time) && !s.Since.After(journal.NextSecond(s.Taint.TimeAdded.Time))
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
func (p *nodeView) all() []taint.History { return slices.Concat(p.Taints, p.Triggers, p.Audited) }
