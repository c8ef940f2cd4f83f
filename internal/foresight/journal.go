package foresight

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/policy"
)

// Journal has the partitions and the state of the manager's journal that were read, and the errors of the others.
type Journal struct {
	Lease Lease

	// Now is when the Lease and the state were read, by the API server's clock; of a dump, its newest time. Read is
	// when the reading began, by this machine's clock.
	Now, Read time.Time

	name       string // in messages
	stateName  string
	grant      string // the command that permits to get them
	partitions map[int]readPartition
	state      readState
}

// readObject is how an object of the journal was read.
type readObject struct {
	absent bool
	err    error
}

// readPartition is a partition, or the reason why it could not be read.
type readPartition struct {
	readObject
	journal.Partition
}

// readState is the state, or the reason why it could not be read.
type readState struct {
	readObject
	journal.State

	guards *breaker.Record // with the times of the API server's clock; nil if there is none
}

// NewJournal returns a journal of which nothing was read. For messages are the names of its ConfigMaps and of that of
// the state, and the command that permits a user to get them.
func NewJournal(name, state, grant string) *Journal {
	return &Journal{name: name, stateName: state, grant: grant, partitions: map[int]readPartition{}}
}

// Add adds a partition as it is stored, or the state, or the error of reading it. It returns false if an error does not
// replace the last version that was read.
func (j *Journal) Add(number int, stored journal.StoredPartition, err error) bool {
	read := readObject{absent: stored.Version == "", err: err}
	if number == journal.StateObject {
		if err != nil && j.state.err == nil && !j.state.Written.IsZero() {
			return false
		}
		j.state = stateOf(stored, read)
		return true
	}
	if before, ok := j.partitions[number]; err != nil && ok && before.err == nil {
		return false
	}
	partition := readPartition{readObject: read}
	if err == nil {
		if partition.Partition, _, err = journal.Decode(number, stored.Data); err != nil {
			partition.err = fmt.Errorf("%s: %w", stored.Name, err)
		}
	}
	j.partitions[number] = partition
	return true
}

// stateOf returns the state as it was read.
func stateOf(stored journal.StoredPartition, read readObject) readState {
	s := readState{readObject: read}
	if read.err != nil {
		return s
	}
	if s.State, s.err = journal.DecodeState(stored.Data); s.err != nil {
		s.err = fmt.Errorf("%s: %w", stored.Name, s.err)
	}
	if len(s.Guards) > 0 {
		record, err := breaker.Decode(s.Guards)
		if s.guards = &record; err != nil {
			s.guards, s.err = nil, fmt.Errorf("%s: %w", stored.Name, err)
		}
	}
	return s
}

// record returns the record of a node; without a UID if there is none.
func (j *Journal) record(node string) journal.Record {
	return j.partitions[journal.PartitionOf(node)].Records[node]
}

// lastWatch returns when the writer of the record of this node last watched. While the journal is written, that is now.
func (j *Journal) lastWatch(node string, at time.Time) journal.LastWatch {
	number := journal.PartitionOf(node)
	partition := j.partitions[number]
	last := j.state.LastWatchOf(number, &partition.Partition)
	if j.isWritten(at) {
		last.Watched = at
	}
	return last
}

// guards returns the record of guards and holds as a manager reads it at this time.
func (j *Journal) guards(now time.Time) breaker.Journaled {
	if j.state.guards == nil {
		return breaker.Journaled{}
	}
	return breaker.Journaled{Record: j.state.guards.Converted(skew.Instant{Time: now}.Enter), Known: true}
}

// hasHold reports whether the record of guards and holds has a hold of this kind.
func (j *Journal) hasHold(of func(policy.HoldRecord) bool) bool {
	return j.state.guards != nil && slices.ContainsFunc(j.state.guards.Holds, of)
}

// Missing returns a clause that says why the journal is incomplete, or "".
func (j *Journal) Missing() string {
	if unread := j.unread(); unread != "" {
		return unread
	}
	if j.absent() == journal.StateObject+1 || len(j.partitions) == 0 {
		return fmt.Sprintf("no journal of taint-manager was found (%s)", j.name)
	}
	return ""
}

// unread returns a clause about an object that can't be read, or "".
func (j *Journal) unread() string {
	for number := range journal.StateObject + 1 {
		switch err := j.object(number).err; {
		case apierrors.IsForbidden(err):
			return "this user may not get " + j.name + " ('" + j.grant + "' grants it)"
		case err != nil:
			return fmt.Sprintf("the journal can't be read (%v)", err)
		}
	}
	return ""
}

// absent returns how many of the objects do not exist.
func (j *Journal) absent() (n int) {
	for number := range journal.StateObject + 1 {
		countIf(&n, j.object(number).absent || number < journal.StateObject && j.partitions[number].Records == nil)
	}
	return n
}

func (j *Journal) object(number int) readObject {
	if number == journal.StateObject {
		return j.state.readObject
	}
	return j.partitions[number].readObject
}

// writtenEvery is more than the time between two writings of the state, while a leader can write it.
const writtenEvery = time.Minute

// isWritten reports whether the journal was being written at this time.
func (j *Journal) isWritten(at time.Time) bool { return at.Sub(j.lastWritten()) <= writtenEvery }

// lastWritten returns when anything that was read of the journal was last written.
func (j *Journal) lastWritten() time.Time {
	last := j.state.Written
	for _, p := range j.partitions {
		if p.Written.After(last) {
			last = p.Written
		}
	}
	return last
}

// clockOf returns at, or the latest time in the record if that is later: the writer's clock may be ahead of the clock
// of at, and its times must not be rejected for that.
func clockOf(r journal.Record, at time.Time) time.Time {
	for _, states := range r.Taints {
		for i := range states {
			if at.Before(states[i].Start) {
				at = states[i].Start
			}
		}
	}
	return at
}
