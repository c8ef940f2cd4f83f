package foresight

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/cluster"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// known is a node twice, with all that is known of its taints: as if each of them had come as late as
// it can have, and as early. Where since when a taint is there is known, the two say the same.
type known struct {
	latest, earliest taint.Node
}

// knownOf looks at a node at this moment. The histories are those of a journal; nil where there is
// none. What can't be told by either came between the node's creation and now.
func knownOf(n *v1.Node, histories []taint.History, at time.Time) known {
	k := known{latest: look(n, histories, at), earliest: look(n, histories, at)}
	later := look(n, histories, at.Add(time.Second))
	for _, history := range k.earliest.Taints {
		for i := range history {
			// A time that moves with the moment of the look is that moment, and so it is not known.
			then := stateOf(later.Taints, &history[i].Taint)
			if then != nil && !then.Since.Equal(history[i].Since) && !n.CreationTimestamp.IsZero() {
				history[i].Since = n.CreationTimestamp.Time
			}
		}
	}
	return k
}

// look is what a manager that begins to watch now would know of the node. Until now the writer of the
// journal is taken to have watched.
func look(n *v1.Node, histories []taint.History, at time.Time) taint.Node {
	node := cluster.NodeOf(n, at)
	node.Taints = journal.Adopt(&node, journal.Record{UID: n.UID, Taints: histories}, at, at)
	return node
}

// with is the node once it is seen to have these taints.
func (k known) with(taints []v1.Taint, at time.Time) known {
	k.latest.Taints = journal.Observe(k.latest.Taints, journal.Sighting{Taints: taints, At: at})
	k.earliest.Taints = journal.Observe(k.earliest.Taints, journal.Sighting{Taints: taints, At: at})
	return k
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
	return !s.Past && s.Taint.Key == t.Key && s.Taint.Value == t.Value && s.Taint.Effect == t.Effect
}
