package foresight

import (
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/journal"
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

// records returns the records of the nodes, by name.
func (j *Journal) records() map[string]journal.Record {
	all := map[string]journal.Record{}
	for _, partition := range j.partitions {
		maps.Copy(all, partition.Records)
	}
	return all
}

// guards returns the record of guards and holds.
func (j *Journal) guards() guards {
	partition := j.partitions[journal.GuardsPartition]
	if partition.err != nil {
		return guards{}
	}
	return guards{partition.Guards, partition.writing}
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

// failed reports whether the partition of the guards exists, or may exist, and can't be read.
func (j *Journal) failed() bool { return j.partitions[journal.GuardsPartition].err != nil }

// unguarded returns the note that the journal's record of guards and holds is not known.
func (j *Journal) unguarded() string {
	cause := j.Missing()
	if cause == "" {
		cause = "the journal has no record of guards and holds"
	}
	return cause + ", so whether a breaker has tripped or the manager is paused is not known: pods may be held, and " +
		"deleteAfter may count from later"
}
