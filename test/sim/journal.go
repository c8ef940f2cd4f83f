package sim

import (
	"maps"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// object is a partition of the journal, or the state, on the server.
type object struct {
	journal.StoredPartition
	written time.Duration            // when it was written
	records map[string]oracle.Record // the oracle's counterparts of the records that it has, by node
	last    oracle.LastWatch         // when the writer had last watched
	forged  bool                     // the times are not those of the counterparts
}

// keeper is a process's core of the journal. It also makes the reads and writes, in place of the program's goroutines.
type keeper struct {
	p     *process
	core  *store.Core
	timer time.Duration // when the core has a step due
	asked chan struct{} // identifies the present term
	began bool          // the present term has begun: the first call is allowed

	read      [journal.StateObject + 1]object // as it was read last
	calls     []*request
	journaled breaker.Journaled
}

func newKeeper(p *process) keeper {
	core := store.NewCore(store.CoreOptions{
		Source: source{p.feed, p}, Leading: p.leading, Ahead: p.skew.Ahead, Identity: p.name,
		Config: []byte(`{"method":"Delete"}`),
	})
	return keeper{p: p, timer: never, core: core}
}

// put passes an input to the core and, as the program's keeper does, how far the nodes were read. Changes of nodes are
// batched: those that follow soon precede that.
func (k *keeper) put(in store.Input) {
	k.step(in)
	if _, change := in.(store.NodesChanged); !change {
		k.watched()
	}
}

// step passes one input to the core, and carries out its effects.
func (k *keeper) step(in store.Input) {
	if k.p.dead {
		return
	}
	do := k.core.Step(k.p.Now(), in)
	k.p.wakeBy(&k.timer, do.Next, k.watched)
	for _, t := range do.Troubles {
		k.p.w.say(k.p.name, "%s of the journal: %s %s", t.Object, t.Kind, t.Text)
	}
	for _, c := range do.Calls {
		if c.Write == nil {
			k.send(k.readOf(c))
		} else {
			k.send(k.writeOf(c))
		}
	}
	if do.Guards != nil {
		k.readGuards(*do.Guards)
	}
	if slices.Contains(do.Done, k.asked) {
		term := k.p.term
		// The program's keeper has a goroutine of its own, so the shards get the notifications of this event first.
		k.p.after(0, func() {
			if k.p.term == term && term != nil {
				k.p.begin()
			}
		})
	}
}

// watched tells the core how far the nodes were read.
func (k *keeper) watched() { k.step(store.Watched{Last: k.p.feed.LastWatch()}) }

func (k *keeper) lead() {
	k.asked = make(chan struct{})
	k.put(store.TermBegan{Done: k.asked})
	k.synced()
}

// synced tells the core of a leader that the first lists have arrived, once they have.
func (k *keeper) synced() {
	if k.p.started && k.p.term != nil {
		k.put(store.Synced{})
	}
}

// endTerm ends the term, and cuts the calls in flight.
func (k *keeper) endTerm() {
	k.began = false
	k.put(store.TermEnded{Done: k.asked})
	calls := k.calls
	k.calls = nil
	for _, call := range calls {
		call.deliver(k.p, canceled())
	}
}

func (k *keeper) send(r *request) {
	k.calls = append(slices.DeleteFunc(k.calls, func(r *request) bool { return r.over }), r)
	k.p.send(r)
}

func (k *keeper) readOf(c store.Call) *request {
	var read object
	return &request{
		do: func() error {
			if k.p.w.server.strike(journalBroken) {
				return failed(0)
			}
			read = k.p.w.server.objects[c.Number]
			return nil
		},
		answer: func(err error) {
			k.read[c.Number] = read
			k.put(store.Answered{Call: c, Content: read.StoredPartition, Err: err})
		},
	}
}

// readGuards passes on the record of guards and holds, as the root package does.
func (k *keeper) readGuards(g store.Guards) {
	j := breaker.Journaled{Unread: !g.Read}
	if len(g.Text) > 0 {
		record, err := breaker.Decode(g.Text)
		k.p.w.check(err)
		j.Record, j.Known = record.Converted(k.p.instant().ToLocal), true
	}
	if k.journaled = j; g.Read {
		k.p.governance.step(breaker.RecordRead{Record: j.Record})
	}
}

func (k *keeper) writeOf(c store.Call) *request {
	now := object{StoredPartition: *c.Write, records: k.records(c), last: k.p.observer.LastWatched()}
	stored := journal.StoredPartition{}
	return &request{
		do: func() (err error) {
			stored.Version, err = k.p.w.writeObject(c.Number, now)
			return err
		},
		answer: func(err error) {
			switch {
			case err == nil:
				k.p.w.say(k.p.name, "has written object %d of the journal", c.Number)
			case apierrors.IsConflict(err):
				k.p.w.counts["Conflicts"]++
			}
			k.put(store.Answered{Call: c, Content: stored, Err: err})
		},
	}
}

// records returns the oracle's counterparts of the records that a process writes.
func (k *keeper) records(c store.Call) map[string]oracle.Record {
	if c.Number == journal.StateObject {
		return nil
	}
	all := map[string]oracle.Record{}
	content, _, err := journal.Decode(c.Number, c.Write.Data)
	k.p.w.check(err)
	for _, node := range slices.Sorted(maps.Keys(content.Records)) {
		all[node], err = k.p.observer.Recorded(node, content.Records[node].Version)
		k.p.w.check(err)
	}
	return all
}

// writeObject writes an object if its version is the one that was read, and returns the new version.
func (w *World) writeObject(i int, now object) (version string, err error) {
	s := w.server
	switch {
	case s.strike(journalBroken):
		return "", failed(0)
	case s.forbids != nil && s.forbids(i):
		return "", denied()
	case s.objects[i].Version != now.Version:
		return "", conflict("configmaps", "journal", "it has changed")
	}
	return s.replaceObject(i, now), nil
}

// replaceObject writes the next version of an object, and returns it.
func (s *server) replaceObject(i int, now object) string {
	s.version++
	now.Version, now.written = strconv.Itoa(s.version), s.line.now()
	s.objects[i] = now
	return now.Version
}

// source is the cache of a process, as its journal uses it.
type source struct {
	*cluster.Feed
	p *process
}

// ApplyRecord passes a record to the cache, and its counterpart to the oracle.
func (s source) ApplyRecord(node string, r journal.Record, last journal.LastWatch) {
	k := &s.p.keeper
	number := journal.PartitionOf(node)
	s.p.w.excused = s.p.w.excused || k.read[number].forged // the oracle can't judge it
	if theirs, ok := k.read[number].records[node]; ok && theirs.IsOf(r.Version) {
		by := k.read[number].last
		if head, _, err := journal.Decode(number, k.read[number].Data); err == nil && head.LastWatch != last {
			by = k.read[journal.StateObject].last
		}
		s.p.observer.Explained(s.p.w.now(), theirs, by)
	}
	s.p.w.say(s.p.name, "reads the record of node %s", node)
	s.Feed.ApplyRecord(node, r, last)
}
