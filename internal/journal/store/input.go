package store

import (
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// Input is an event for a [Core].
type Input interface{ input() }

// Synced reports that the source has all nodes. It comes once. Contents that were heard before are processed then,
// because a record of an unknown node has no effect.
type Synced struct{}

// Heard reports what the watch of a partition shows: its content, or the error of a read, or a content and the error of
// a later read.
type Heard struct {
	Partition int
	Content   *journal.StoredPartition // nil if none was read
	Err       error                    // nil if the last read succeeded
}

// NodesChanged reports that the taints of nodes of this partition have changed, or that such nodes were deleted.
type NodesChanged struct{ Partition int }

// NodesListed reports that the source has taken in a list of all nodes.
type NodesListed struct{}

// TermBegan begins a term of leadership. Numbers of terms are positive, and each is used once.
type TermBegan struct{ Term int }

// TermEnded ends the term with this number.
type TermEnded struct{ Term int }

// Written answers a write: with the new version, or with an error. Cut means that the call was cancelled, because the
// term or the process ends.
type Written struct {
	Partition int
	Version   string
	Err       error
	Cut       bool
}

// GuardsSet sets the record of guards and holds that this process writes while it leads.
type GuardsSet struct{ Record breaker.Record }

// Flush asks for all changes to be written. Effects.Flushed answers it once all are written, or once another attempt
// has failed.
type Flush struct{ Done chan struct{} }

// TimePassed reports that the time of Effects.Next has come.
type TimePassed struct{}

func (Synced) input()       {}
func (Heard) input()        {}
func (NodesChanged) input() {}
func (NodesListed) input()  {}
func (TermBegan) input()    {}
func (TermEnded) input()    {}
func (Written) input()      {}
func (GuardsSet) input()    {}
func (Flush) input()        {}
func (TimePassed) input()   {}

// Effects are the results of a step.
type Effects struct {
	// Writes are the writes to make. A partition has at most one at a time: the next follows after [Written].
	Writes []Write

	// Adopted are the nodes whose histories a record has changed.
	Adopted []string

	// Guards is the record of guards and holds that another process has written; nil if no such record was read, or if
	// its partition is not believed.
	Guards *breaker.Record

	// Troubles are the problems that have changed.
	Troubles []Trouble

	// Flushed are the flushes that are done.
	Flushed []chan struct{}

	// Loaded means that decisions may begin. It is set once.
	Loaded bool

	// Next is when the next step is due if nothing else happens before; zero if none is due.
	Next time.Time
}

// Write is a write to make: [Partitions.Write] with this content, during this term.
type Write struct {
	Term, Partition int
	Content         journal.StoredPartition
}

// Trouble is a change of one problem of one partition.
type Trouble struct {
	Partition string // its name
	Kind      Kind
	New       bool   // the partition had no problem of this kind
	Text      string // empty if the problem is over
}
