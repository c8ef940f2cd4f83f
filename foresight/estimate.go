package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// What tells since when a taint is there.
const (
	FromJournal   = "journal"   // a manager has recorded it
	FromTimeAdded = "timeAdded" // the taint's own timeAdded
	FromSight     = "seen"      // it was seen to appear
	FromPlan      = "plan"      // the plan sets it
	NotKnown      = "unknown"   // nothing: it is within a range
)

// nodeEstimate is a node twice, with all that is known of its taints: as if each of them had come as late as
// it can have, and as early. Where since when a taint is there is known, the two say the same.
type nodeEstimate struct {
	latest, earliest nodeView

	recorded Recorded
}

// nodeView is a node as it may be.
type nodeView struct {
	taint.Node
	history journal.NodeHistory
}

// estimateOf looks at a node at this moment, for the first time. What neither the journal nor timeAdded
// tells came between the node's creation and now.
func estimateOf(n *v1.Node, r Recorded, at time.Time) nodeEstimate {
	k := nodeEstimate{latest: viewOf(n), earliest: viewOf(n)}
	look := journal.Observation{Taints: n.Spec.Taints, At: at, Created: k.latest.Created, Version: n.ResourceVersion, Gap: true}
	k.latest.see(look)
	look.Unknown = n.CreationTimestamp.Time
	k.earliest.see(look)
	return k.adopt(r, at)
}

// viewOf is the node before anything is known of its taints.
func viewOf(n *v1.Node) nodeView {
	return nodeView{Node: taint.Node{Name: n.Name, UID: n.UID, Created: n.CreationTimestamp.Time, Version: n.ResourceVersion}}
}

// see takes a look, and says whether it has shown anything new.
func (p *nodeView) see(s journal.Observation) bool {
	s.Taints = taint.Normalize(s.Taints)
	now, changed := p.history.Observe(s)
	if changed {
		p.history, p.Taints, p.Version = now, now.Taints(), s.Version
	}
	return changed
}

// estimateFromRecord is a node of which only the journal tells.
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

// with is the node once it is seen to have these taints, at this version.
func (k nodeEstimate) with(taints []v1.Taint, version string, at time.Time) nodeEstimate {
	look := journal.Observation{Taints: taints, At: at, Version: version}
	k.latest.see(look)
	k.earliest.see(look)
	return k
}

// from is what tells since when a taint of the node is there, be it with another value at first.
func (k *nodeEstimate) from(t *v1.Taint) string {
	latest, earliest := stateOf(k.latest.Taints, t), stateOf(k.earliest.Taints, t)
	switch {
	case latest == nil || earliest == nil || earliest.Since.Before(latest.Since):
		return NotKnown
	case slices.ContainsFunc(historyOf(k.latest.Taints, t), k.isRecorded):
		return FromJournal
	case isAdded(latest):
		return FromTimeAdded
	case k.recorded.UID == k.latest.UID && stateOf(k.recorded.Taints, t) != nil:
		return FromJournal // clamped to the node's life
	}
	return FromSight
}

// isAdded says whether the state counts from its timeAdded: from the second after it, or from the look, if
// that came before.
func isAdded(s *taint.State) bool {
	return s.Taint.TimeAdded != nil && !s.Since.Before(s.Taint.TimeAdded.Time) && !s.Since.After(journal.NextSecond(s.Taint.TimeAdded.Time))
}

// isRecorded says whether the journal has this very state of this very node.
func (k *nodeEstimate) isRecorded(s taint.State) bool {
	return k.recorded.UID == k.latest.UID && slices.ContainsFunc(historyOf(k.recorded.Taints, &s.Taint), func(r taint.State) bool {
		return r.Since.Equal(s.Since) && r.Taint.MatchTaint(&s.Taint) && r.Taint.Value == s.Taint.Value
	})
}

// historyOf is the one that has a state of the taint, past or not; nil when none has.
func historyOf(histories []taint.History, t *v1.Taint) taint.History {
	for _, history := range histories {
		if slices.ContainsFunc(history, func(s taint.State) bool { return s.Taint.MatchTaint(t) }) {
			return history
		}
	}
	return nil
}

// stateOf is the state of the taint on the node; nil when the taint is not there.
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
