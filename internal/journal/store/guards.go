package store

import (
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// guards is the record of guards and holds that this process has set or read.
type guards struct {
	record *breaker.Record // nil: unknown
	leads  bool            // this process leads

	// written is when the partition is last known to have been written. A leader writes a partition with a record
	// regularly.
	written time.Time
}

// at returns the record at the time now, and whether it is known. A record that a leader knows stays known while the
// partition can't be written.
func (g *guards) at(now time.Time) (r breaker.Record, known bool) {
	if g.record == nil || !g.leads && now.Sub(g.written) > staleAfter {
		return breaker.Record{}, false
	}
	return *g.record, true
}

// lead begins or ends a term.
func (g *guards) lead(now time.Time, leads bool) {
	if _, known := g.at(now); !known {
		g.record = nil
	}
	g.leads = leads
}

// read replaces the record by the partition's; nil means that the partition has no record. A leader that reads a record
// late sets the record anew. If the partition has no record or an old record, the leader writes its own record back.
func (g *guards) read(r *breaker.Record, now, written time.Time) {
	g.written = written
	if !g.leads || r != nil && now.Sub(written) <= staleAfter {
		g.record = r
	}
}

// adoptGuards passes on the record that the partition contains. The age of the first record that this process finds is
// measured from when another process is last known to have led: nobody has written since.
func (p *partition) adoptGuards(r *breaker.Record, first bool) {
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
	p.effects.Guards = r
}

// guardsToWrite returns the record to write; nil if there is none, or if another partition has it.
func (p *partition) guardsToWrite() *breaker.Record {
	r, known := p.guards.at(p.now)
	if p.number != journal.GuardsPartition || !known {
		return nil
	}
	return new(journal.GuardsOf(r, p.now))
}
