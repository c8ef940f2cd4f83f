package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// writtenEvery is more than the time between two writings of a partition with records, while a leader can write it.
const writtenEvery = time.Minute

// isWritten reports whether a journal with this writing was being written at this time.
func isWritten(w journal.Writing, at time.Time) bool { return at.Sub(w.At) <= writtenEvery }

// nodeOf returns the node of this name as far as the record has it: its UID, its NoExecute taints and its triggers.
func nodeOf(name string, r journal.Record) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: r.UID, ResourceVersion: r.Version}}
	for _, history := range slices.Concat(r.Taints, r.Triggers) {
		for i := range history {
			if !history[i].Ended {
				n.Spec.Taints = append(n.Spec.Taints, history[i].Taint)
			}
		}
	}
	return n
}

// watched returns the last time at which a writer of the journal is known to have watched the node.
func watched(r journal.Record, at time.Time) time.Time {
	if isWritten(r.Writing, at) {
		return at
	}
	return r.Writing.At
}

// clockOf returns at, or the latest time in the record if that is later: the writer's clock may be ahead of the clock
// of at, and its times must not be rejected for that.
func clockOf(r journal.Record, at time.Time) time.Time {
	for _, history := range slices.Concat(r.Taints, r.Triggers) {
		for i := range history {
			if at.Before(history[i].Since) {
				at = history[i].Since
			}
		}
	}
	return at
}
