package taint

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Node is what is known of a node: who it is, and the history of each of its NoExecute taints. It is
// immutable once shared. Verdicts rest on Taints alone.
type Node struct {
	Name string
	UID  types.UID

	// Created is when the node was made, by the API server's clock.
	Created time.Time

	// Version is the node's resourceVersion when its taints were last seen to change, or a later one up to which a
	// record of the journal tells that they did not.
	Version string

	// Taints holds one history for each taint that is on the node now. The taints
	// node.kubernetes.io/not-ready and node.kubernetes.io/unreachable share one.
	Taints []History

	// Triggers holds, in the same way, one history for each taint of effect NoSchedule that a policy makes a
	// trigger. [Decide] passes them over.
	Triggers []History

	// Labels of the node, for policies; nil where none asks for them. No verdict of [Decide] rests on them.
	Labels map[string]string
}

// Tainted says whether the node carries any NoExecute taint.
func (n *Node) Tainted() bool { return n != nil && len(n.Taints) > 0 }

// History is the unbroken life of one taint on one node: its states in the order of their Since, the
// first one first. Each state lasts until the next begins; the last one lasts. At least one state
// is not Past; states that are Past are no longer on the node.
type History []State

// State is a taint with the value that it had from one moment on.
type State struct {
	// Taint has its key, value and effect set. No verdict rests on its TimeAdded, which is the one
	// seen last.
	Taint v1.Taint

	// Since is the moment from which the taint counts as being on the node in this state.
	Since time.Time

	// Ended says that the node no longer carries the taint in this state.
	Ended bool

	// From is the node's resourceVersion at which the taint was first seen in this state, and To the one at
	// which it was first seen no longer to be; empty while it is, and when that is not known. No verdict
	// rests on them: where two states overlap, the histories of a [Node] have the one that counts.
	From, To string

	// FoundInList says that it was not seen to appear, but found in a list. No verdict rests on it.
	FoundInList bool
}

// Normalize returns the taints with timeAdded nil where it is zero. The two mean the same: what is stored as zero, the
// API's protobuf shows as zero and its JSON not at all. It does not change its argument.
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
