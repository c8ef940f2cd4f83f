package taint

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Node identifies a node and has the history of each of its triggers: NoExecute taints, and NoSchedule taints that
// policies name. It is immutable once shared. The verdicts of [Decide] depend on Taints only.
type Node struct {
	Name string
	UID  types.UID

	// Created is the node's creation time, by the API server's clock.
	Created time.Time

	// Taints has one history for each taint that is on the node now. The taints node.kubernetes.io/not-ready and
	// node.kubernetes.io/unreachable share one history.
	Taints []History

	// Triggers has, in the same way, one history for each NoSchedule taint that a policy makes a trigger. [Decide]
	// ignores these taints.
	Triggers []History

	// Audited has, in the same way, one history for each NoSchedule taint that only policies in mode Audit name. No
	// verdict depends on it: an exposure begins once a policy is enforced.
	Audited []History

	// Outage means that the node carries the taint not-ready or unreachable with the effect NoSchedule. No verdict
	// depends on it.
	Outage bool

	// Labels of the node, for policies; nil if no policy needs them. No verdict of [Decide] depends on them.
	Labels map[string]string
}

// Tainted reports whether the node carries any NoExecute taint, or any NoSchedule taint that a policy names.
func (n *Node) Tainted() bool { return n != nil && len(n.Taints)+len(n.Triggers)+len(n.Audited) > 0 }

// Keys returns the keys of the triggers that are on the node now.
func (n *Node) Keys() (keys []string) {
	for _, histories := range [...][]History{n.Taints, n.Triggers} {
		for _, history := range histories {
			for i := range history {
				if s := &history[i]; !s.Ended && !slices.Contains(keys, s.Taint.Key) {
					keys = append(keys, s.Taint.Key)
				}
			}
		}
	}
	return keys
}

// Without returns the node as if it did not carry taints of this key.
func (n *Node) Without(key string) *Node {
	without := *n
	without.Taints, without.Triggers = ended(n.Taints, key), ended(n.Triggers, key)
	return &without
}

// ended returns the histories with the states of this key marked Ended. They are marked, not removed, so that an
// exposure to the other taint of a shared history keeps its start.
func ended(histories []History, key string) []History {
	histories = slices.Clone(histories)
	for i, history := range histories {
		histories[i] = slices.Clone(history)
		for j := range history {
			if history[j].Taint.Key == key {
				histories[i][j].Ended = true
			}
		}
	}
	return histories
}

// History is the uninterrupted presence of one taint on one node: its states, sorted by Since. Each state counts until
// the next begins, the last until now. States that have Ended are no longer on the node. Invariant, except in the
// result of [Node.Without]: at least one state has not Ended.
type History []State

// State is a taint with one of the values that it has had.
type State struct {
	// Taint has the key, the value and the effect. No verdict depends on its TimeAdded, which is the last one seen.
	Taint v1.Taint

	// Since is the moment from which on the taint counts as being on the node in this state.
	Since time.Time

	// Ended means that the node no longer carries the taint in this state.
	Ended bool

	// Relisted is when a list after a watch gap first showed the taint in this state; zero if the watch, or a process's
	// first list, showed it first. No verdict of [Decide] depends on it.
	Relisted time.Time
}

// Normalize returns the taints with each zero timeAdded replaced by nil. Zero and nil mean the same: the API's protobuf
// encodes a stored zero, and its JSON omits it. Normalize does not modify its argument.
func Normalize(taints []v1.Taint) []v1.Taint {
	zero := func(t v1.Taint) bool { return t.TimeAdded != nil && t.TimeAdded.IsZero() }
	if !slices.ContainsFunc(taints, zero) {
		return taints
	}
	taints = slices.Clone(taints)
	for i := range taints {
		if zero(taints[i]) {
			taints[i].TimeAdded = nil
		}
	}
	return taints
}
