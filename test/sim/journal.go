package sim

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// partition is one partition of the journal on the server.
type partition struct {
	version int // 0 if it does not exist
	data    map[string]string
	written time.Time        // by its writer's clock
	stored  time.Duration    // true time
	writer  *process         // nil once others have written
	forged  bool             // the times are not those of the truths
	truths  map[string]truth // by node
}

// truth is the oracle's counterpart of the record of one node, and the version of that record.
type truth struct {
	version string
	record  oracle.Record
}

// heard is a partition as a process has heard of it.
type heard struct {
	partition
	at      time.Duration
	watched bool
}

// keeper is a process's core of the journal, with what its shell does: it reads and watches the partitions of the
// server, and makes the writes.
type keeper struct {
	p     *process
	core  *store.Core
	timer time.Duration // when the core has a step due
	terms int

	loaded bool // decisions may begin
	synced bool
	deaf   time.Duration // until then, the watch of the partitions is broken
	heard  [journal.Partitions][]heard
	calls  [journal.Partitions]*request // the last writes
	wrote  [journal.Partitions]int      // the terms in which the process has written last
}

func newKeeper(p *process) keeper {
	k := keeper{p: p, timer: never}
	k.core = store.NewCore(store.CoreOptions{
		Source: source{p.feed, p}, Leading: p.leading, Ahead: p.skew.Excess,
	})
	return k
}

// open reads all partitions, and watches them from then on.
func (k *keeper) open() {
	for i := range journal.Partitions {
		k.list(i)
	}
}

// list reads a partition, until that succeeds.
func (k *keeper) list(i int) {
	var read partition
	k.p.send(&request{
		do: func() error {
			if k.p.w.server.strike(journalBroken) {
				return failed(0)
			}
			read = k.p.w.server.partitions[i]
			return nil
		},
		answer: func(err error) {
			if err == nil {
				k.hear(i, read, false)
				k.watch(i, false)
				return
			}
			k.step(store.Heard{Partition: i, Err: err})
			k.p.after(time.Second, func() { k.list(i) })
		},
	})
}

// watch shows the process a partition that has changed since it has heard of it; missed means that the watch was broken
// when that happened, and resumes.
func (k *keeper) watch(i int, missed bool) {
	if len(k.heard[i]) == 0 {
		return // it is not listed yet
	}
	if w := k.p.w; !w.server.answers() || k.deaf > w.now() {
		k.p.after(time.Second, func() { k.watch(i, true) })
		return
	}
	if last := k.heard[i]; last[len(last)-1].version != k.p.w.server.partitions[i].version {
		k.hear(i, k.p.w.server.partitions[i], !missed)
	}
}

// hear passes a partition to the core.
func (k *keeper) hear(i int, read partition, watched bool) {
	const most = 8
	k.heard[i] = append(k.heard[i], heard{read, k.p.w.now(), watched})
	if len(k.heard[i]) > most {
		k.heard[i] = k.heard[i][1:]
	}
	if watched && read.writer != k.p {
		k.p.w.counts["Received"] += len(read.truths)
	}
	k.report(i, &k.heard[i][len(k.heard[i])-1])
	s := journal.StoredPartition{
		Data: read.data, Stored: k.p.w.server.at(read.stored).Truncate(time.Second),
	}
	if watched {
		s.Received = k.p.Now()
	}
	if read.version > 0 {
		s.Version = strconv.Itoa(read.version)
	}
	k.step(store.Heard{Partition: i, Content: &s})
}

// report tells the oracle which records the process has heard of, unless the process has written the partition in this
// term.
func (k *keeper) report(i int, h *heard) {
	if h.writer == k.p || h.forged || k.p.term != nil && k.wrote[i] == k.terms {
		return
	}
	for node := range k.p.w.plan.nodes {
		name := nodeName(node)
		if t, ok := h.truths[name]; ok {
			k.p.observer.Heard(h.adoption(k.p.w.now()), name, &t.record)
		} else if journal.PartitionOf(name) == i {
			k.p.observer.Heard(oracle.Adoption{}, name, nil)
		}
	}
}

// step passes one input to the core, and its effects on.
func (k *keeper) step(in store.Input) {
	if k.p.dead {
		return
	}
	do := k.core.Step(k.p.Now(), in)
	k.p.wake(&k.timer, do.Next, func() { k.step(store.TimePassed{}) })
	for _, node := range do.Adopted {
		k.p.w.say(k.p.name, "takes over what the journal says of node %s", node)
		k.p.shardOf(node).put(shard.NodeChanged{Name: node})
	}
	for _, t := range do.Troubles {
		k.p.w.say(k.p.name, "%s of the journal: %s %s", t.Partition, t.Kind, t.Text)
	}
	for i := range do.Writes {
		k.write(&do.Writes[i])
	}
	if do.Guards != nil {
		k.p.governance.step(guard.RecordRead{Record: *do.Guards})
	}
	if do.Loaded {
		k.loaded = true
		k.p.mayBegin()
	}
}

// lead begins a term.
func (k *keeper) lead() {
	k.terms++
	k.step(store.TermBegan{Term: k.terms})
}

// endTerm ends the term, and cuts the writes under way.
func (k *keeper) endTerm() {
	k.step(store.TermEnded{Term: k.terms})
	for _, call := range k.calls {
		if call != nil && !k.p.dead {
			call.deliver(k.p, canceled())
		}
	}
}

// journaled returns the record of holds that the journal has.
func (k *keeper) journaled() guard.Journaled {
	r, known := k.core.Guards(k.p.Now())
	return guard.Journaled{Record: r, Known: known}
}

// errConflict is the answer to a write of a partition that has changed since it was read.
var errConflict = errors.New("the partition was written by somebody else")

// write makes a write of the core.
func (k *keeper) write(w *store.Write) {
	now := partition{data: w.Content.Data, writer: k.p, written: k.p.Now().Round(0), truths: k.truths(w)}
	version, _ := strconv.Atoi(w.Content.Version)
	call := &request{
		do: func() (err error) {
			now.version, err = k.p.w.writePartition(w.Partition, version, now)
			return err
		},
		answer: func(err error) {
			switch {
			case err == nil:
				k.wrote[w.Partition] = w.Term
				k.p.w.counts["Recorded"]++
				k.p.w.say(k.p.name, "has written partition %d of the journal", w.Partition)
			case errors.Is(err, errConflict):
				k.p.w.counts["Conflicts"]++
			}
			k.step(store.Written{
				Partition: w.Partition, Version: strconv.Itoa(now.version), Err: err,
				Cut: w.Term != k.terms || k.p.term == nil,
			})
		},
	}
	k.calls[w.Partition] = call
	k.p.send(call)
}

// truths returns the oracle's counterparts of what a process writes.
func (k *keeper) truths(w *store.Write) map[string]truth {
	truths := map[string]truth{}
	content, _, err := journal.Decode(w.Partition, w.Content.Data)
	k.p.w.check(err)
	for _, node := range slices.Sorted(maps.Keys(content.Records)) {
		record := content.Records[node]
		if carried, how, ok := k.carried(w.Partition, node, &record); ok {
			truths[node] = truth{record.Version, k.p.observer.Forwarded(k.p.w.now(), how, carried)}
			k.p.w.counts["Forwarded"]++
			continue
		}
		recorded, err := k.p.observer.Recorded(k.p.w.now(), node, record.Version)
		k.p.w.check(err)
		truths[node] = truth{record.Version, recorded}
	}
	return truths
}

// carried returns the counterpart of a record that the process has heard of, and writes once more, because it has not
// read the node so far.
func (k *keeper) carried(i int, node string, record *journal.Record) (oracle.Record, oracle.Adoption, bool) {
	if !journal.IsNewer(record.Version, k.p.feed.Reached()) {
		return oracle.Record{}, oracle.Adoption{}, false
	}
	for _, h := range slices.Backward(k.heard[i]) {
		if t, ok := h.truths[node]; ok && h.writer != k.p && (h.forged || t.version == record.Version) {
			k.p.w.excused = k.p.w.excused || h.forged
			return t.record, h.adoption(k.p.w.now()), true
		}
	}
	return oracle.Record{}, oracle.Adoption{}, false
}

func (h *heard) adoption(now time.Duration) oracle.Adoption {
	return oracle.Adoption{At: now, Stored: h.stored, Received: h.at, Watched: h.watched}
}

// writePartition writes a partition if its version is the one that was read.
func (w *World) writePartition(i, version int, now partition) (int, error) {
	s := w.server
	switch {
	case s.strike(journalBroken):
		return 0, failed(0)
	case s.partitions[i].version != version:
		return 0, errConflict
	}
	s.version++
	now.version, now.stored = s.version, w.now()
	s.partitions[i] = now
	w.partitionChanged(i)
	return now.version, nil
}

// partitionChanged shows the change of a partition to all replicas.
func (w *World) partitionChanged(i int) {
	for _, p := range w.up() {
		p.after(span(p.r, 0, 100*time.Millisecond), func() { p.keeper.watch(i, false) })
	}
}

// source is the cache of a process, as its journal uses it.
type source struct {
	*cluster.Feed
	p *process
}

// adopts tells the oracle that the process adopts a record. What a standby makes of a forged one is judged once the
// leader's next record has replaced it; a leader may go by it.
func (p *process) adopts(node string, h *heard, r oracle.Record) {
	p.observer.Fooled(node, h.forged)
	switch {
	case !h.forged:
		p.observer.Adopted(h.adoption(p.w.now()), r)
	case p.term != nil:
		p.w.excused = true
	default:
		p.w.counts["Forged"]++
	}
}

// Adopt passes a record to the cache, and its counterpart to the oracle.
func (s source) Adopt(node string, r journal.Record) bool {
	for _, h := range slices.Backward(s.p.keeper.heard[journal.PartitionOf(node)]) {
		if t, ok := h.truths[node]; ok && h.written.Equal(r.Writing.At) && (h.forged || t.version == r.Version) {
			s.p.adopts(node, &h, t.record)
			break
		}
	}
	return s.Feed.Adopt(node, r)
}
