package foresight

import (
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Reading is what is known of how the objects were read.
type Reading struct {
	// At is when the objects were read. A question about a later time takes into account which breakers are reset until
	// then. Zero: at the time of the question.
	At time.Time

	// Newest is the newest time in a dump that is not in the future; zero if there is none. Aged is set if At is that
	// time, because it is long ago.
	Newest time.Time
	Aged   bool

	// From names the source in messages, such as "the cluster".
	From string

	// Dumped is set if an object that is missing may only be missing from a dump.
	Dumped bool

	// Hidden is the verb that this user may not use on nodes, get or list: then the nodes are those of the journal.
	// Empty if nodes were read.
	Hidden string

	// Partial is set if some nodes of the cluster were not read. Breakers compare affected nodes with all nodes, so
	// only trips that the journal records count then.
	Partial bool

	// NamespacesRefused says why namespaces were not read; empty if they were, or are not needed.
	NamespacesRefused string

	// BudgetsUnknown says why there are no PodDisruptionBudgets; empty if they were read, or are not needed.
	BudgetsUnknown string

	// EventsUnknown says why there are no events; empty if they were read, or are not needed.
	EventsUnknown string

	// Journal has the partitions of the tainted nodes and that of the guards. If the nodes are hidden, it has all.
	Journal *Journal

	// Notes concern what was not read. Warnings concern what may be missing in a dump.
	Notes, Warnings []string
}

// Moment is the time of a question: At or, if At is zero, the time that is After the time of the reading.
type Moment struct {
	At    time.Time
	After time.Duration
}

// settle returns the time of a question. It notes that a dump is old, and warns about a question before the dump's
// time.
func (r *Reading) settle(q Moment) time.Time {
	newest := fmt.Sprintf("the newest time in %s is %s", r.From, taint.Stamp(r.Newest))
	switch {
	case !q.At.IsZero() && q.At.Before(r.Newest):
		r.Warnings = append(r.Warnings, newest+", which is after "+taint.Stamp(q.At)+": what has changed in between "+
			"counts as if it had been so all the time")
	case !q.At.IsZero():
	case r.Aged && q.After == 0:
		r.Notes = append([]string{newest + ", so it is judged as of then; --at=now judges it as of now"}, r.Notes...)
	case r.Aged:
		r.Notes = append([]string{newest + ", and " + q.After.String() + " counts from then"}, r.Notes...)
	}
	if q.At.IsZero() {
		return r.At.Add(q.After)
	}
	return q.At
}
