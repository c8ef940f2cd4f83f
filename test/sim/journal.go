package sim

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// partition is one partition of the journal on the server.
type partition struct {
	version int // 0 if it does not exist
	data    map[string]string
	records map[string]oracle.Record // the oracle's counterparts, by node
	written time.Time                // by its writer's clock
	stored  time.Duration            // true time
	writer  *process                 // nil once others have written
	forged  bool                     // the times are not those of the counterparts
}

// heard is a partition as a process has heard of it.
type heard struct {
	partition
	way oracle.Way
}

// has reports whether the partition has a record of the node at this version, or a forged record.
func (h *heard) has(node, version string) bool {
	r, ok := h.records[node]
	return ok && (h.forged || r.IsOf(version))
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
	heard  [journal.Partitions][]*heard
	calls  [journal.Partitions]*request // the last writes
	wrote  [journal.Partitions]int      // the terms in which the process has written last
}

func newKeeper(p *process) keeper {
	core := store.NewCore(store.CoreOptions{Source: source{p.feed, p}, Leading: p.leading, Ahead: p.skew.Excess})
	return keeper{p: p, timer: never, core: core}
}

// list reads a partition, until that succeeds, and watches it from then on.
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
	w, all := k.p.w, k.heard[i]
	switch {
	case len(all) == 0: // it is not listed yet
	case !w.server.answers() || k.deaf > w.now():
		k.p.after(time.Second, func() { k.watch(i, true) })
	case all[len(all)-1].version != w.server.partitions[i].version:
		k.hear(i, w.server.partitions[i], !missed)
	}
}

// hear passes a partition to the oracle, unless the process has written it in this term, and to the core.
func (k *keeper) hear(i int, read partition, watched bool) {
	h := &heard{read, oracle.Way{Stored: read.stored, Received: k.p.w.now(), Watched: watched}}
	k.heard[i] = append(k.heard[i], h)
	own := h.writer == k.p || k.p.term != nil && k.wrote[i] == k.terms
	for node := range k.p.w.plan.nodes {
		if name := nodeName(node); !own && !h.forged && journal.PartitionOf(name) == i {
			r, ok := h.records[name]
			k.p.observer.Heard(h.way, name, r, ok)
		}
	}
	s := journal.StoredPartition{Data: read.data, Stored: k.p.w.server.at(read.stored).Truncate(time.Second)}
	if watched {
		s.Received = k.p.Now()
	}
	if read.version > 0 {
		s.Version = strconv.Itoa(read.version)
	}
	k.step(store.Heard{Partition: i, Content: &s})
}

// latest returns the latest partition that the process has heard of and for which is returns true, or nil.
func (k *keeper) latest(i int, is func(*heard) bool) *heard {
	for _, h := range slices.Backward(k.heard[i]) {
		if is(h) {
			return h
		}
	}
	return nil
}

// step passes one input to the core, and its effects on.
func (k *keeper) step(in store.Input) {
	if k.p.dead {
		return
	}
	do := k.core.Step(k.p.Now(), in)
	k.p.wakeBy(&k.timer, do.Next, func() { k.step(store.TimePassed{}) })
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
		k.p.governance.step(breaker.RecordRead{Record: *do.Guards})
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
func (k *keeper) journaled() breaker.Journaled {
	r, known := k.core.Guards(k.p.Now())
	return breaker.Journaled{Record: r, Known: known}
}

// errConflict is the answer to a write of a partition that has changed since it was read.
var errConflict = errors.New("the partition was written by somebody else")

// write makes a write of the core.
func (k *keeper) write(w *store.Write) {
	now := partition{data: w.Content.Data, writer: k.p, written: k.p.Now().Round(0), records: k.records(w)}
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
				k.p.w.say(k.p.name, "has written partition %d of the journal", w.Partition)
			case errors.Is(err, errConflict):
				k.p.w.counts["Conflicts"]++
			}
			cut := w.Term != k.terms || k.p.term == nil
			k.step(store.Written{Partition: w.Partition, Version: strconv.Itoa(now.version), Err: err, Cut: cut})
		},
	}
	k.calls[w.Partition] = call
	k.p.send(call)
}

// records returns the oracle's counterparts of the records that a process writes: of what it knows, or of a record that
// it has heard of, and writes once more, because it has not read the node so far.
func (k *keeper) records(w *store.Write) map[string]oracle.Record {
	all, now := map[string]oracle.Record{}, k.p.w.now()
	content, _, err := journal.Decode(w.Partition, w.Content.Data)
	k.p.w.check(err)
	for _, node := range slices.Sorted(maps.Keys(content.Records)) {
		version := content.Records[node].Version
		h := k.latest(w.Partition, func(h *heard) bool { return h.writer != k.p && h.has(node, version) })
		if h != nil && journal.IsNewer(version, k.p.feed.Reached()) {
			k.p.w.excused = k.p.w.excused || h.forged
			k.p.w.counts["Forwarded"]++
			all[node] = k.p.observer.Forwarded(now, h.way, h.records[node])
			continue
		}
		all[node], err = k.p.observer.Recorded(now, node, version)
		k.p.w.check(err)
	}
	return all
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
	now.stored = w.now()
	w.replacePartition(i, &now)
	return now.version, nil
}

// replacePartition writes the next version of a partition, and shows it to all replicas.
func (w *World) replacePartition(i int, now *partition) {
	w.server.version++
	now.version = w.server.version
	w.server.partitions[i] = *now
	for _, p := range w.up() {
		p.after(span(p.r, 0, 100*time.Millisecond), func() { p.keeper.watch(i, false) })
	}
}

// source is the cache of a process, as its journal uses it.
type source struct {
	*cluster.Feed
	p *process
}

// Adopt passes a record to the cache, and its counterpart to the oracle. What a standby makes of a forged record is
// judged once the leader's next record has replaced it; a leader may go by it.
func (s source) Adopt(node string, r journal.Record) bool {
	p := s.p
	h := p.keeper.latest(journal.PartitionOf(node), func(h *heard) bool {
		return h.written.Equal(r.Writing.At) && h.has(node, r.Version)
	})
	if h != nil {
		p.observer.Fooled(node, h.forged)
		switch {
		case !h.forged:
			p.observer.Adopted(p.w.now(), h.way, h.records[node])
		case p.term != nil:
			p.w.excused = true
		default:
			p.w.counts["Forged"]++
		}
	}
	return s.Feed.Adopt(node, r)
}
