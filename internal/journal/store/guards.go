package store

import (
	"time"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// guards is the record of guards and holds.
type guards struct {
	record    guard.Record
	known     bool // the record was read, or set
	setTerm   int  // the term in which this process has set the record; 0 if there is none
	knownTerm int  // the term in which the record was known, and stays known while the partition can't be written
	term      int  // the present term

	// written is when the partition is last known to have been written. A leader writes a partition with a record
	// regularly.
	written time.Time
}

// at returns the record at the time now, and whether it is known.
func (g *guards) at(now time.Time) (guard.Record, bool) {
	return g.record, g.known && (now.Sub(g.written) <= staleAfter || g.term != 0 && g.knownTerm == g.term)
}

// keep notes that a term begins, or, if the number is 0, that the last term has ended.
func (g *guards) keep(now time.Time, term int) {
	g.term = term
	if _, known := g.at(now); known {
		g.knownTerm = term
	}
}

// put sets the record.
func (g *guards) put(r guard.Record, term int) {
	g.record, g.known, g.setTerm, g.knownTerm = r, true, term, term
}

// read replaces the record by the record of another process; nil means that the partition has none. If this process has
// already set a record in its present term, it has begun to lead before it could read the other record, and merges
// both.
func (g *guards) read(r *guard.Record, now, written time.Time) {
	g.written = written
	switch set := g.setTerm != 0 && g.setTerm == g.term; {
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

// adoptGuards passes on the record that the partition contains. The age of the first record that this process finds is
// measured from when another process is last known to have led: nobody has written since.
func (p *partition) adoptGuards(r *guard.Record, first bool) {
	if p.number != journal.GuardsPartition {
		return
	}
	written := p.now
	if r != nil {
		ahead := max(p.options.Ahead(p.now), 0)
		r = new(p.writing.Guards(*r, p.now, ahead))
		switch last := p.options.LastLed; {
		case !first:
			written = p.writing.Moment(p.writing.At, p.now, ahead)
		case !last.IsZero():
			written = p.now.Add(-max(last.Sub(p.writing.At), 0))
		}
	}
	p.guards.read(r, p.now, written)
	if r != nil {
		p.effects.Guards = new(p.guards.record)
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
