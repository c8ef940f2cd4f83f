package journal

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is the journal's record of one tainted node. Its JSON form is part of the format.
type Record struct {
	UID types.UID `json:"uid"` // of the node: one with the same name and another UID is another node

	// Version is the node's resourceVersion when the writer last saw its taints change, or that of a record that it
	// read, if later. A process uses the record once it has watched the nodes up to this version.
	Version string `json:"version,omitempty"`

	List   string         `json:"list,omitempty"` // a fingerprint of all taints; empty if each recorded one has its timeAdded
	Taints [][]TaintState `json:"taints"`         // the states of each taint
}

// TaintState is a state of a taint, with the journal's bookkeeping.
type TaintState struct {
	v1.Taint

	// Since and Relisted are those of [taint.State], on the monotonic clock of this process. Start and Listed are the
	// same by the API server's clock, in UTC. What was read is recorded unchanged.
	Since    time.Time `json:"-"`
	Start    time.Time `json:"since"`
	Relisted time.Time `json:"-"`
	Listed   time.Time `json:"relisted,omitzero"`

	// Ended means that the node no longer carries the taint in this state.
	Ended bool `json:"past,omitempty"`

	// From is the node's resourceVersion at which the taint was first seen in this state, and To that at which the node
	// was first seen without it; empty while it lasts, and if unknown.
	From string `json:"from,omitempty"`
	To   string `json:"-"`

	// Found means that a list was the first to show the state, so it may have begun before.
	Found bool `json:"found,omitempty"`
}

// afterAbsence reports whether the writer had seen the node without the state before it began.
func (s *TaintState) afterAbsence() bool { return !s.Found || !s.Listed.IsZero() }

// find returns the states of the taint, or nil.
func (r *Record) find(t *v1.Taint) []TaintState {
	for _, states := range r.Taints {
		if counts(&states[0].Taint, t) {
			return states
		}
	}
	return nil
}
