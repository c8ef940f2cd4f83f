package store

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// waiting is a record of a version of its node that this process has not reached.
type waiting struct {
	record journal.Record
	since  time.Time

	// refusedAt is how far the nodes had been read when the record was refused; "" if it was not refused.
	refusedAt string
}

// offer passes the records of the latest writing to the source. A record of a version that is not reached waits
// instead: the present state of the nodes can't show which presence of a taint the record is about.
func (p *partition) offer(records map[string]journal.Record) {
	before := p.waiting
	p.waiting = make(map[string]*waiting, len(records))
	for node, r := range records {
		r.Writing = p.writing
		w := &waiting{record: r, since: p.now}
		if known := before[node]; known != nil && known.record.UID == r.UID && known.record.Version == r.Version {
			w.since, w.refusedAt = known.since, known.refusedAt
		}
		p.waiting[node] = w
	}
	p.resolveWaiting()
}

// withUnrecorded adds empty records of the tainted nodes that the records lack. An earlier writing, which a leader has
// undone since, may have recorded these nodes.
func (p *partition) withUnrecorded(records map[string]journal.Record) {
	for _, n := range p.options.Source.Tainted() {
		if _, is := records[n.Name]; !is && journal.PartitionOf(n.Name) == p.number {
			records[n.Name] = journal.Record{UID: n.UID}
		}
	}
}

// offerAgain offers the records of another process once more: since they were received, the source may have read nodes,
// and policies may have named triggers.
func (p *partition) offerAgain() {
	if !p.synced || !p.foreign {
		return
	}
	content, _, _ := journal.Decode(p.number, p.content.Data) // Decode succeeded before
	p.offer(content.Records)
}

// resolveWaiting offers the records whose versions have been reached, and refuses the records that wait for too long. A
// refused record is named, and this process no longer writes it. A refused record is dropped once the nodes are read
// further, but not up to its version.
func (p *partition) resolveWaiting() {
	reached := ""
	if len(p.waiting) > 0 {
		reached = p.options.Source.Reached()
	}
	var refused []string
	for _, node := range slices.Sorted(maps.Keys(p.waiting)) {
		w := p.waiting[node]
		switch {
		case !journal.IsNewer(w.record.Version, reached):
			delete(p.waiting, node)
			if p.options.Source.Adopt(node, w.record) {
				p.effects.Adopted = append(p.effects.Adopted, node)
			}
		case w.refusedAt != "" && w.refusedAt != reached:
			delete(p.waiting, node)
		case p.now.Sub(w.since) >= unreachedAfter:
			p.dirty = p.dirty || w.refusedAt == ""
			w.refusedAt = reached
			refused = append(refused, fmt.Sprintf("%.80q at version %.40q", node, w.record.Version))
		}
	}
	text := joined(refused, 5, ", ")
	if text != "" {
		text = fmt.Sprintf("records of nodes are refused, because within %v this process has not read the nodes up to their versions: %s", unreachedAfter, text)
	}
	p.problem(unreached, text)
}

// forward adds the records that wait to the records that this process writes: their writer knew more of these nodes.
func (p *partition) forward(records map[string]journal.Record) {
	for node, w := range p.waiting {
		if w.refusedAt == "" {
			records[node] = journal.Forward(w.record, p.now, max(p.options.Ahead(p.now), 0))
		}
	}
}
