package journal

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is the journal's record of one tainted node.
type Record struct {
	// UID of the node: a node with the same name and another UID is another node.
	UID types.UID

	// Version is the node's resourceVersion when the writer last saw its taints change, or a later one of a record that
	// the writer has read. A process uses the record once it has watched the nodes up to this version.
	Version string

	// List is a fingerprint of all taints of the node; empty if each that is recorded has its timeAdded.
	List string

	// Taints has the states of each taint.
	Taints [][]TaintState
}

// find returns the states of the taint, or nil.
func (r *Record) find(t *v1.Taint) []TaintState {
	for _, states := range r.Taints {
		if counts(&states[0].Taint, t) {
			return states
		}
	}
	return nil
}
