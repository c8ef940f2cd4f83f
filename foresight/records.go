package foresight

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/journal"
)

// writtenEvery is more than the time between two writings of a partition with records, while a leader can write it.
const writtenEvery = time.Minute

// Records are a journal's records of nodes, by the nodes' names.
type Records map[string]Recorded

// Recorded is the journal's record of one node. The zero value is no record.
type Recorded struct {
	journal.Record

	// Written is when the partition with the record was written, by its writer's clock; zero if that is unknown.
	Written time.Time
}

// Add adds the records of a partition.
func (r Records) Add(page journal.Partition) {
	for name, record := range page.Records {
		r[name] = Recorded{record, page.Written}
	}
}

// Stale returns when the oldest partition with records of these nodes was written, if that is so long before at
// that the journal seems to be no longer written; zero if there is no such partition.
func (r Records) Stale(nodes []string, at time.Time) (written time.Time) {
	for _, name := range nodes {
		one, ok := r[name]
		if ok && !one.kept(at) && (written.IsZero() || one.Written.Before(written)) {
			written = one.Written
		}
	}
	return written
}

// Node returns the node of this name as far as the record has it: its UID, and its NoExecute taints.
func (r *Recorded) Node(name string) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: r.UID}}
	for _, history := range r.Taints {
		for i := range history {
			if !history[i].Ended {
				n.Spec.Taints = append(n.Spec.Taints, history[i].Taint)
			}
		}
	}
	return n
}

// kept reports whether the journal was being written at this time.
func (r *Recorded) kept(at time.Time) bool { return at.Sub(r.Written) <= writtenEvery }

// watched returns the last time at which a writer of the journal is known to have watched the node.
func (r *Recorded) watched(at time.Time) time.Time {
	if r.kept(at) {
		return at
	}
	return r.Written
}

// clock returns at, or the latest time in the record if that is later: the writer's clock may be ahead of the clock
// of at, and its times must not be rejected for that.
func (r *Recorded) clock(at time.Time) time.Time {
	for _, history := range r.Taints {
		for i := range history {
			if at.Before(history[i].Since) {
				at = history[i].Since
			}
		}
	}
	return at
}
