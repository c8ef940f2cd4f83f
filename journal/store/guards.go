package store

import (
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
)

// guards is the record of guards and holds.
type guards struct {
	mu     sync.Mutex
	record guard.Record
	known  bool  // the record was read, or set
	set    *term // in which this process has set it; nil if it has not
	kept   *term // in which it was known, so that it stays so while it can't be written

	// fresh is when the partition is last known to have been written. A leader writes it regularly if it has a record.
	fresh time.Time
}

// SetGuards sets the record that this process writes while it leads: at once, but at most once a second. The times of
// the record carry the monotonic clock. It does not block.
func (k *Keeper) SetGuards(r guard.Record) {
	k.guards.mu.Lock()
	k.guards.record, k.guards.known, k.guards.set = r, true, k.term()
	k.guards.kept = k.guards.set
	k.guards.mu.Unlock()
	if len(k.partitions) > 0 {
		k.partitions[journal.GuardsPartition].wake()
	}
}

// Guards returns the record that was set, or that another process has written since. Its times carry the monotonic
// clock. known is false if the journal cannot be read, has no record, or was not written for too long: then the ends of
// all holds so far are unknown. It is complete once [Keeper.Loaded] is closed. A leader carries the record that it has read over into its own
// writings until it sets one.
func (k *Keeper) Guards() (r guard.Record, known bool) {
	k.guards.mu.Lock()
	defer k.guards.mu.Unlock()
	g, present := &k.guards, k.term()
	if g.known && time.Since(g.fresh) <= staleAfter {
		g.kept = present
		return g.record, true
	}
	return g.record, g.known && g.kept != nil && g.kept == present
}

// read replaces the record by one that another process has written; nil means that its partition has none. If this
// process has already set a record in its present term, it has begun to lead before it knew this one: it merges both.
func (g *guards) read(r *guard.Record, fresh time.Time, present *term) (merged guard.Record, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fresh = fresh
	set := g.set != nil && g.set == present
	switch {
	case r == nil && set:
	case r == nil:
		g.record, g.known = guard.Record{}, false
	case set:
		g.record = g.record.Merge(*r)
	default:
		g.record, g.known = *r, true
	}
	return g.record, r != nil
}

// written notes that this process has written the record at this moment.
func (g *guards) written(at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fresh = at
}

// adoptGuards passes on the record that the partition contains. What this process finds first is as fresh as it was when
// a process is last known to have led: nobody has written since.
func (p *partition) adoptGuards(r *guard.Record, writing *journal.Writing, first bool) {
	if p.number != journal.GuardsPartition {
		return
	}
	now := time.Now()
	fresh := now
	if r != nil {
		ahead := max(p.keeper.options.Ahead(now), 0)
		r = new(writing.Guards(*r, now, ahead))
		switch last := p.keeper.options.LastLed; {
		case !first:
			fresh = writing.Moment(writing.At, now, ahead)
		case !last.IsZero():
			fresh = now.Add(-max(last.Sub(writing.At), 0))
		}
	}
	if record, known := p.keeper.guards.read(r, fresh, p.keeper.term()); known {
		p.keeper.options.GuardsRead(record)
	}
}

// guards returns the record to write; nil if there is none, or if another partition has it.
func (p *partition) guards(now time.Time) *guard.Record {
	r, known := p.keeper.Guards()
	if p.number != journal.GuardsPartition || !known {
		return nil
	}
	return new(journal.GuardsOf(r, now))
}
