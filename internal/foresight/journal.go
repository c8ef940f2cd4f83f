package foresight

import (
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// Journal has the partitions of the manager's journal that were read, and the errors of the others.
type Journal struct {
	name       string // in messages
	partitions map[int]readPartition
}

// readPartition is a partition, or the reason why it could not be read.
type readPartition struct {
	journal.Partition
	writing journal.Writing
	absent  bool
	err     error
}

// NewJournal returns a journal of which nothing was read. name names its ConfigMaps in messages.
func NewJournal(name string) *Journal { return &Journal{name, map[int]readPartition{}} }

// Add adds a partition as it is stored, or the error of reading it. It returns false if an error does not replace the
// last version that was read.
func (j *Journal) Add(number int, stored journal.StoredPartition, err error) bool {
	if before, ok := j.partitions[number]; err != nil && ok && before.err == nil {
		return false
	}
	read := readPartition{absent: stored.Version == "", err: err}
	if err == nil {
		if read.Partition, _, err = journal.Decode(number, stored.Data); err != nil {
			read.err = fmt.Errorf("%s: %w", stored.Name, err)
		}
		read.writing = journal.Writing{At: read.Written, Stored: stored.Stored}
	}
	for name, record := range read.Records {
		record.Writing = read.writing
		read.Records[name] = record
	}
	j.partitions[number] = read
	return true
}

// record returns the record of a node; without a UID if there is none.
func (j *Journal) record(node string) journal.Record {
	return j.partitions[journal.PartitionOf(node)].Records[node]
}

// nodes returns the nodes that have records: their UIDs, their NoExecute taints and their triggers.
func (j *Journal) nodes() map[string]*node {
	all := map[string]*node{}
	for _, partition := range j.partitions {
		for name, r := range partition.Records {
			n := &node{Node: breaker.Node{Name: name, UID: r.UID}, version: r.Version}
			for _, history := range slices.Concat(r.Taints, r.Triggers) {
				for i := range history {
					if !history[i].Ended {
						n.Taints = append(n.Taints, history[i].Taint)
					}
				}
			}
			all[name] = n
		}
	}
	return all
}

// guards returns the record of guards and holds as a manager adopts it at this time.
func (j *Journal) guards(now time.Time) breaker.Journaled {
	g := j.partitions[journal.GuardsPartition]
	if g.Guards == nil {
		return breaker.Journaled{}
	}
	return breaker.Journaled{Record: g.writing.Guards(*g.Guards, now, 0), Known: true}
}

// hasHold reports whether the record of guards and holds has a hold of this kind.
func (j *Journal) hasHold(of func(policy.HoldRecord) bool) bool {
	g := j.partitions[journal.GuardsPartition]
	return g.Guards != nil && slices.ContainsFunc(g.Guards.Holds, of)
}

// Missing returns a clause that says why the journal is incomplete, or "".
func (j *Journal) Missing() string {
	absent := 0
	for _, number := range slices.Sorted(maps.Keys(j.partitions)) {
		switch partition := j.partitions[number]; {
		case apierrors.IsForbidden(partition.err):
			return "this user may not list " + j.name
		case partition.err != nil:
			return fmt.Sprintf("the journal can't be read (%v)", partition.err)
		case partition.absent:
			absent++
		}
	}
	if absent == len(j.partitions) {
		return fmt.Sprintf("there is no journal (%s)", j.name)
	}
	return ""
}

// writtenEvery is more than the time between two writings of a partition with records, while a leader can write it.
const writtenEvery = time.Minute

// isWritten reports whether a journal with this writing was being written at this time.
func isWritten(w journal.Writing, at time.Time) bool { return at.Sub(w.At) <= writtenEvery }

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
