package foresight

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/journal"
)

// writtenEvery is more than the time between two writings of a page that holds records, while somebody
// leads and can write it.
const writtenEvery = time.Minute

// Records are what a journal tells of nodes, by their names.
type Records map[string]Recorded

// Recorded is the journal's record of one node. The zero value is none.
type Recorded struct {
	journal.Record

	// Written is when the page with the record was written, by its writer's clock; zero when that
	// can't be told.
	Written time.Time
}

// Add takes in the records of a page.
func (r Records) Add(page journal.Partition) {
	for name, record := range page.Records {
		r[name] = Recorded{record, page.Written}
	}
}

// Stale is when the oldest page with records of these nodes was written, if so long before the moment
// that nobody seems to keep the journal; zero when there is none such.
func (r Records) Stale(nodes []string, at time.Time) (written time.Time) {
	for _, name := range nodes {
		one, ok := r[name]
		if ok && !one.kept(at) && (written.IsZero() || one.Written.Before(written)) {
			written = one.Written
		}
	}
	return written
}

// Node is the node of this name as far as the record tells of it: who it is, and its NoExecute taints.
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

// kept says whether somebody keeps the journal at the moment.
func (r *Recorded) kept(at time.Time) bool { return at.Sub(r.Written) <= writtenEvery }

// watched is the last moment at which somebody is known to have watched the node.
func (r *Recorded) watched(at time.Time) time.Time {
	if r.kept(at) {
		return at
	}
	return r.Written
}

// clock is a moment that is not before any in the record: whoever wrote it may have a clock that is
// ahead of the one that the moment was read from, which must not make its times unbelievable.
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
