package store

import (
	"time"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
)

// guards is the record of guards and holds.
type guards struct {
	record guard.Record
	known  bool // the record was read, or set
	set    int  // the term in which this process has set it; 0 if it has not
	kept   int  // the term in which it was known, so that it stays so while it can't be written
	term   int  // the present term

	// fresh is when the partition is last known to have been written. A leader writes it regularly if it has a record.
	fresh time.Time
}

// at returns the record at the time now, and whether it is known.
func (g *guards) at(now time.Time) (guard.Record, bool) {
	return g.record, g.known && (now.Sub(g.fresh) <= staleAfter || g.term != 0 && g.kept == g.term)
}

// keep notes that a term begins, or that the last one has ended if it is 0.
func (g *guards) keep(now time.Time, term int) {
	g.term = term
	if _, known := g.at(now); known {
		g.kept = term
	}
}

// put sets the record.
func (g *guards) put(r guard.Record, term int) {
	g.record, g.known, g.set, g.kept = r, true, term, term
}

// read replaces the record by one that another process has written; nil means that its partition has none. If this
// process has already set a record in its present term, it has begun to lead before it knew this one: it merges both.
func (g *guards) read(r *guard.Record, now, fresh time.Time) {
	g.fresh = fresh
	switch set := g.set != 0 && g.set == g.term; {
	case r == nil && set:
	case r == nil:
		g.record, g.known = guard.Record{}, false
	case set:
		g.record = g.record.Merge(*r)
	default:
		g.record, g.known = *r, true
	}
	g.keep(now, g.term)
}

// adoptGuards passes on the record that the partition contains. What this process finds first is as fresh as it was
// when a process is last known to have led: nobody has written since.
func (p *partition) adoptGuards(r *guard.Record, first bool) {
	if p.number != journal.GuardsPartition {
		return
	}
	fresh := p.now
	if r != nil {
		ahead := max(p.options.Ahead(p.now), 0)
		r = new(p.writing.Guards(*r, p.now, ahead))
		switch last := p.options.LastLed; {
		case !first:
			fresh = p.writing.Moment(p.writing.At, p.now, ahead)
		case !last.IsZero():
			fresh = p.now.Add(-max(last.Sub(p.writing.At), 0))
		}
	}
	p.guards.read(r, p.now, fresh)
	if r != nil {
		p.do.Guards = new(p.guards.record)
	}
}

// guardsToWrite returns the record to write; nil if there is none, or if another partition has it.
func (p *partition) guardsToWrite() *guard.Record {
	r, known := p.guards.at(p.now)
	if p.number != journal.GuardsPartition || !known {
		return nil
	}
	return new(journal.GuardsOf(r, p.now))
}
