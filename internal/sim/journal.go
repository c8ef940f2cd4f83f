package sim

import (
	"errors"
	"hash/fnv"
	"reflect"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// partitions is the number of partitions of the journal.
const partitions = 8

// partition is one partition of the journal on the server.
type partition struct {
	version int // 0 if it does not exist
	entries []entry
	guards  *guard.Record // of partition 0
	writer  *process
	written time.Time     // by its writer's clock
	stored  time.Duration // true time
}

// entry is the record of one node, and the oracle's counterpart of it.
type entry struct {
	node   string
	record journal.Record
	truth  oracle.Record
}

func partitionOf(node string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return int(h.Sum32() % partitions)
}

// store stands in for the journal's store. The leader writes a partition at most once a second, with the
// resourceVersion that it has read, and reads it again after a conflict. Each replica reads all partitions at its
// start, and each partition when it changes. Once a partition has had the content that the leader wants, the leader
// adopts nothing more from it.
type store struct {
	p          *process
	partitions [partitions]storedPartition
	opened     bool // all partitions were read, or the read failed
}

// storedPartition is a process's view of a partition.
type storedPartition struct {
	known   bool
	stored  partition
	dirty   bool
	writing bool
	mine    bool          // in this term, it has had the content that this process wants
	wrote   time.Duration // when this process last wrote it

	received time.Duration // when the partition was received, if the process watched it change; otherwise never
}

// open reads all partitions. Judging begins when they were read or the read has failed.
func (s *store) open() {
	s.readAll(func(error) {
		s.opened = true
		s.p.mayBegin()
	})
}

// readAll reads all partitions and adopts their records.
func (s *store) readAll(done func(error)) {
	var read [partitions]partition
	s.p.send(&request{
		do: func() error {
			if s.p.w.server.strike(journalBroken) {
				return failed(0)
			}
			read = s.p.w.server.partitions
			return nil
		},
		answer: func(err error) {
			if err == nil {
				for i := range read {
					s.took(i, read[i], never)
				}
			} else {
				s.p.after(time.Second, func() { s.readAll(func(error) {}) })
			}
			done(err)
		},
	})
}

// lead reads all partitions again, because this process writes them from now on.
func (s *store) lead() {
	for i := range s.partitions {
		s.partitions[i].known = false
	}
	s.readAll(func(err error) {
		if err == nil {
			s.p.w.say(s.p.name, "has read the journal")
		}
	})
}

// took stores a partition that was read; received is when it was received, if the process watched it change, and
// otherwise never. A partition that this process has written without getting the answer has the content that it
// wants.
func (s *store) took(i int, read partition, received time.Duration) {
	g := &s.partitions[i]
	if g.stored.version != read.version {
		g.stored, g.received = read, received
		g.mine = g.mine || s.p.term != nil && read.writer == s.p
	}
	g.known = true
	s.adopt(i)
	if i == 0 {
		s.tookGuards(read.writer)
	}
	s.dirty(i)
}

// standBy resets the state that only a leader has.
func (s *store) standBy() {
	for i := range s.partitions {
		s.partitions[i].mine = false
	}
}

// adopt adopts the records of the partition that are news to this process.
func (s *store) adopt(i int) {
	g := &s.partitions[i]
	if g.mine || g.stored.writer == s.p {
		return
	}
	how := oracle.Adoption{At: s.p.w.now(), Stored: g.stored.stored, Received: g.received, Watched: g.received != never}
	writing := s.writing(i)
	if how.Watched {
		s.p.w.counts.Received += len(g.stored.entries)
	}
	for _, e := range g.stored.entries {
		e.record.Writing = writing
		if !s.p.w.oracle.Governed {
			s.p.observer.Adopted(how, e.truth)
		}
		if s.p.feed.Adopt(e.node, e.record) {
			s.p.w.say(s.p.name, "takes over what the journal says of node %s", e.node)
			s.p.shardOf(e.node).nodeChanged(e.node)
		}
	}
}

// writing returns the writing of a partition as this process has read it.
func (s *store) writing(i int) journal.Writing {
	g := &s.partitions[i]
	w := journal.Writing{At: g.stored.written, Stored: s.p.w.server.at(g.stored.stored).Truncate(time.Second)}
	if g.received != never {
		w.Received = s.p.clock.at(g.received)
	}
	return w
}

// adoptAgain adopts the records of all partitions again, after a list of nodes.
func (s *store) adoptAgain() {
	for i := range s.partitions {
		if s.partitions[i].known {
			s.adopt(i)
		}
	}
}

// nodeChanged marks the partition of a node for writing.
func (s *store) nodeChanged(name string) { s.dirty(partitionOf(name)) }

// dirty makes the leader write a partition, not earlier than a second after the last write.
func (s *store) dirty(i int) {
	g := &s.partitions[i]
	if s.p.term == nil || !g.known || g.dirty || !s.p.started {
		return
	}
	g.dirty = true
	s.p.after(max(g.wrote+time.Second-s.p.w.now(), 0), func() { s.write(i) })
}

// flush writes all partitions marked for writing, at once.
func (s *store) flush() {
	for i := range s.partitions {
		if s.partitions[i].dirty {
			s.write(i)
		}
	}
}

// write writes a partition.
func (s *store) write(i int) {
	g := &s.partitions[i]
	if s.p.term == nil || !s.p.leading() || !g.known || g.writing || !g.dirty {
		g.dirty = g.dirty && g.writing
		return
	}
	now := s.content(i)
	if sameEntries(now.entries, g.stored.entries) && reflect.DeepEqual(now.guards, g.stored.guards) && s.p.w.now()-g.wrote < stampEvery {
		g.dirty, g.mine = false, true
		return
	}
	g.dirty, g.writing, g.wrote = false, true, s.p.w.now()
	version := g.stored.version
	s.p.send(&request{
		do:     func() error { return s.p.w.server.writePartition(i, version, &now) },
		answer: func(err error) { s.wrote(i, now, err) },
	})
}

// errConflict is the answer to a write of a partition that has changed since it was read.
var errConflict = errors.New("the partition was written by somebody else")

// writePartition writes a partition if its version is the one that was read.
func (s *server) writePartition(i, version int, now *partition) error {
	if s.strike(journalBroken) {
		return failed(0)
	}
	if s.partitions[i].version != version {
		return errConflict
	}
	s.version++
	now.version, now.stored = s.version, s.line.now()
	s.partitions[i] = *now
	return nil
}

// wrote handles the answer to a write.
func (s *store) wrote(i int, now partition, err error) {
	g := &s.partitions[i]
	g.writing = false
	if err == nil {
		g.stored, g.received, g.mine = now, never, s.p.term != nil
		s.p.w.counts.Recorded++
		s.p.w.say(s.p.name, "has written partition %d of the journal", i)
		s.p.w.partitionChanged(i, s.p)
		s.dirty(i)
		s.p.after(stampEvery, func() { s.stamp(i) })
		return
	}
	if errors.Is(err, errConflict) {
		s.p.w.counts.Conflicts++
	}
	g.known = false
	s.p.after(time.Second, func() { s.readAll(func(error) {}) })
}

// stampEvery is how often a partition with records is written even if nothing has changed.
const stampEvery = 20 * time.Second

// stamp writes a partition that was not written for that long.
func (s *store) stamp(i int) {
	if g := &s.partitions[i]; len(g.stored.entries) > 0 && s.p.w.now()-g.wrote >= stampEvery {
		g.dirty = true
		s.write(i)
	}
}

// content returns the content that a partition is to have.
func (s *store) content(i int) partition {
	now := partition{writer: s.p, written: s.p.now().Round(0)}
	if i == 0 {
		now.guards = s.guards()
	}
	for _, n := range s.p.feed.Tainted() {
		if partitionOf(n.Name) == i {
			record := stored(journal.RecordOf(n, s.p.now()))
			var truth oracle.Record
			if !s.p.w.oracle.Governed {
				var err error
				truth, err = s.p.observer.Recorded(s.p.w.now(), n.Name, record.Version)
				s.p.w.check(err)
			}
			now.entries = append(now.entries, entry{n.Name, record, truth})
		}
	}
	slices.SortFunc(now.entries, func(a, b entry) int {
		if a.node < b.node {
			return -1
		}
		return 1
	})
	return now
}

// stored returns a record as the server returns it: without the monotonic clock.
func stored(r journal.Record) journal.Record {
	r.Taints, r.Triggers = wallTimes(r.Taints), wallTimes(r.Triggers)
	return r
}

func wallTimes(histories []taint.History) []taint.History {
	times := make([]taint.History, len(histories))
	for i, h := range histories {
		times[i] = slices.Clone(h)
		for j := range times[i] {
			times[i][j].Since = h[j].Since.Round(0)
		}
	}
	return times
}

func sameEntries(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(a, b entry) bool {
		return a.node == b.node && a.record.UID == b.record.UID && a.record.Version == b.record.Version &&
			slices.EqualFunc(a.record.Taints, b.record.Taints, sameHistory) && slices.EqualFunc(a.record.Triggers, b.record.Triggers, sameHistory)
	})
}

func sameHistory(a, b taint.History) bool {
	return slices.EqualFunc(a, b, func(a, b taint.State) bool {
		return a.Ended == b.Ended && a.Since.Equal(b.Since) && a.Taint.Key == b.Taint.Key && a.Taint.Value == b.Taint.Value &&
			a.Taint.TimeAdded.Equal(b.Taint.TimeAdded)
	})
}

// partitionChanged shows the change of a partition to all other replicas.
func (w *World) partitionChanged(i int, by *process) {
	for _, p := range w.processes {
		if p == nil || p == by {
			continue
		}
		p.after(span(p.r, 0, 100*time.Millisecond), func() {
			if p.term == nil && !w.server.strike(away) && !w.server.strike(hang) {
				p.store.took(i, w.server.partitions[i], w.now())
			}
		})
	}
}
