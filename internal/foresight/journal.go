package foresight

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/skew"
)

// Journal is what was read of the manager's journal: partitions and its [journal.State], or the errors of reading them.
type Journal struct {
	Lease Lease

	// Now is when the Lease and the state were read, by the API server's clock; for a dump, its newest time. Read is
	// when reading them began, by this machine's clock.
	Now, Read time.Time

	name, stateName string // in messages
	grant           string // the command that grants the permission to get the journal's ConfigMaps

	read       map[int]readObject // by number
	partitions map[int]journal.Partition
	state      journal.State
	guards     *breaker.Record // from the state, with times by the API server's clock; nil if there is none
}

// readObject is the result of reading one object of the journal.
type readObject struct {
	absent bool
	err    error
}

// NewJournal returns a journal of which nothing was read. Messages use the arguments: the names of its ConfigMaps, the
// name of the state's ConfigMap, and the command that grants a user the permission to get them.
func NewJournal(name, state, grant string) *Journal {
	return &Journal{
		name: name, stateName: state, grant: grant, read: map[int]readObject{}, partitions: map[int]journal.Partition{},
	}
}

// Add adds a stored partition, the stored state, or the error of reading it.
func (j *Journal) Add(number int, stored journal.StoredPartition, err error) {
	if err == nil {
		if err = j.decode(number, stored.Data); err != nil {
			err = fmt.Errorf("%s: %w", stored.Name, err)
		}
	}
	j.read[number] = readObject{stored.Version == "", err}
}

// keep replaces what could not be read by what was read before.
func (j *Journal) keep(before *Journal) {
	for number, was := range before.read {
		if now := j.read[number]; now.err == nil || was.err != nil || was.absent {
			continue
		}
		if j.read[number] = was; number == journal.StateObject {
			j.state, j.guards = before.state, before.guards
		} else {
			j.partitions[number] = before.partitions[number]
		}
	}
}

// Complete records that the objects that were not added do not exist.
func (j *Journal) Complete() {
	for number := range journal.StateObject + 1 {
		if _, added := j.read[number]; !added {
			j.read[number] = readObject{absent: true}
		}
	}
}

func (j *Journal) decode(number int, data map[string]string) (err error) {
	if number != journal.StateObject {
		j.partitions[number], _, err = journal.Decode(number, data)
		return err
	}
	j.guards = nil
	j.state, err = journal.DecodeState(data)
	if len(j.state.Guards) == 0 {
		return err
	}
	record, broken := breaker.Decode(j.state.Guards)
	if broken != nil {
		return broken
	}
	j.guards = &record
	return err
}

// record returns the record of a node; without a UID if there is none.
func (j *Journal) record(node string) journal.Record {
	return j.partitions[journal.PartitionOf(node)].Records[node]
}

// ahead returns how far the writer's clock is ahead of the API server's, at least: it renewed the Lease, and wrote the
// state, before they were read. It returns 0 if the clocks hardly differ.
func (j *Journal) ahead() time.Duration {
	latest := j.state.Written
	if s := j.Lease.Spec; s != nil && s.RenewTime != nil && s.RenewTime.After(latest) {
		latest = s.RenewTime.Time
	}
	if ahead := latest.Sub(j.Now); ahead > skew.Tolerance {
		return ahead
	}
	return 0
}

// lastWatch returns when the writer of this node's record last watched the nodes; if it still writes the journal, now.
func (j *Journal) lastWatch(node string, at time.Time) journal.LastWatch {
	number := journal.PartitionOf(node)
	partition := j.partitions[number]
	last := j.state.LastWatchOf(number, &partition)
	if j.isWritten(at) {
		last.Watched = at
	}
	return last
}

// journaled returns the record of guards and holds as a manager reads it at this time.
func (j *Journal) journaled(now time.Time) breaker.Journaled {
	if j.guards == nil {
		return breaker.Journaled{}
	}
	return breaker.Journaled{Record: j.guards.Converted(skew.Instant{Time: now}.ToLocal), Known: true}
}

// Missing returns a clause that says why the journal is incomplete, or "".
func (j *Journal) Missing() string {
	if unread := j.unread(); unread != "" {
		return unread
	}
	if j.absent() == journal.StateObject+1 || len(j.partitions) == 0 {
		return fmt.Sprintf("taint-manager's journal was not found (%s)", j.name)
	}
	return ""
}

// unread returns a clause about an object that can't be read, or "".
func (j *Journal) unread() string {
	for number := range journal.StateObject + 1 {
		switch err := j.read[number].err; {
		case apierrors.IsForbidden(err):
			return "this user may not get " + j.name + " ('" + j.grant + "' grants it)"
		case err != nil:
			return fmt.Sprintf("the journal can't be read (%v)", err)
		}
	}
	return ""
}

// absent returns how many of the objects do not exist, or were not read.
func (j *Journal) absent() (n int) {
	for number := range journal.StateObject + 1 {
		countIf(&n, j.read[number].absent || number < journal.StateObject && j.partitions[number].Records == nil)
	}
	return n
}

// writtenEvery is more than the time between two writings of the state, while a leader can write it.
const writtenEvery = time.Minute

// isWritten reports whether, according to what was read, the journal was still being written at this time.
func (j *Journal) isWritten(at time.Time) bool {
	written := at.Sub(j.state.Written) <= writtenEvery
	for _, p := range j.partitions {
		written = written || at.Sub(p.Written) <= writtenEvery
	}
	return written
}

// clockOf returns the present (at), or the latest time in the record if that is later: the writer's clock may be ahead,
// and this must not make the times of the record invalid.
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
