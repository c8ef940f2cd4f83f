package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// writing is one writing of this process.
type writing struct {
	data   map[string]string
	term   int
	at     time.Time
	nodes  int
	guards bool
}

// standBy resets the state of a leader: the writings of others count until this process has written in its next term.
// An edit that arrived just before the end of the term may be a writing of the next leader.
func (p *partition) standBy() {
	edited := p.mine && !p.own
	p.mine, p.own, p.retry, p.pause, p.dirty = false, false, time.Time{}, 0, true
	p.problem(unwritten, "")
	p.problem(full, "")
	if edited {
		p.open(p.content)
	}
}

// due returns when the partition is checked for changes to write; false if it is not.
func (p *partition) due() (time.Time, bool) {
	if !p.writes() || !p.opened || p.problems[foreign] != "" || p.call != nil || !p.dirty && !p.filled {
		return time.Time{}, false
	}
	bounds := []time.Time{p.paced, p.retry}
	if !p.dirty {
		bounds = append(bounds, p.stamp.Add(stampEvery))
	}
	return slices.MaxFunc(bounds, time.Time.Compare), true
}

// writeIfDue starts a write if a write is due.
func (p *partition) writeIfDue() {
	switch at, due := p.due(); {
	case due && !p.options.Leading():
		p.retry = p.now.Add(pollInterval)
	case due && !p.now.Before(at):
		p.write()
	}
}

// isWriting reports whether a write is under way, or will be without a failure before it.
func (p *partition) isWriting() bool {
	_, due := p.due()
	return p.call != nil || due && p.dirty && p.retry.IsZero()
}

// write starts a write if the data to write differ from the stored data, or if the time of writing is old. Each
// partition is written once in a term, also an empty one: only a write shows that this process knows the latest
// content, and makes the partition its own. Before this first write, this process adopts the stored records.
// Afterwards, it replaces the writings of other clients.
func (p *partition) write() {
	p.dirty = false // later changes set it again
	p.offerAgain()
	content := journal.Partition{Written: p.stamp, Undone: p.undone, Records: p.recorded(), Guards: p.guardsToWrite()}
	data, leftOut := journal.Encode(content)
	p.problem(full, describe(leftOut))
	stamped := !p.filled || p.now.Before(p.stamp.Add(stampEvery))
	if stamped && p.own && maps.Equal(data, p.content.Data) {
		return
	}
	content.Written = p.now
	data, _ = journal.Encode(content)
	p.call = &writing{
		data: data, term: p.term, at: p.now,
		nodes: len(content.Records) - len(leftOut.Nodes), guards: content.Guards != nil && !leftOut.Guards,
	}
	p.effects.Writes = append(p.effects.Writes, Write{p.term, p.number, journal.StoredPartition{
		Name:    p.content.Name,
		Version: p.content.Version, Data: data,
	}})
}

// recorded returns the records of the partition's nodes.
func (p *partition) recorded() map[string]journal.Record {
	records := map[string]journal.Record{}
	for _, n := range p.options.Source.Tainted() {
		if journal.PartitionOf(n.Name) == p.number && len(n.Taints)+len(n.Triggers) > 0 {
			records[n.Name] = journal.RecordOf(n, p.now)
		}
	}
	p.forward(records)
	return records
}

// answered takes in the answer to the write under way.
func (p *partition) answered(in Written) {
	w := p.call
	p.call = nil
	p.paced = p.now.Add(max(writeInterval, time.Duration(journal.Size(w.data))*time.Second/throughput))
	if in.Err == nil {
		p.stored(journal.StoredPartition{Name: p.content.Name, Version: in.Version, Data: w.data}, w)
		return
	}
	if !apierrors.IsConflict(in.Err) && !apierrors.IsAlreadyExists(in.Err) {
		p.sent = w // it may be stored nevertheless
	}
	p.dirty = true
	p.pause = min(max(2*p.pause, time.Second), longestRetry)
	p.retry = p.now.Add(p.pause)
	if !in.Cut && w.term == p.term {
		p.fail(unwritten, in.Err)
	}
}

// stored notes that the partition has the content of a writing of this process. If the writing is of an earlier term,
// another leader may have written since, and its content must be adopted.
func (p *partition) stored(s journal.StoredPartition, own *writing) {
	p.content, p.stamp, p.retry, p.pause = s, own.at, time.Time{}, 0
	p.sent = own
	p.own = own.term == p.term && p.term != 0
	p.mine, p.foreign, p.opened = p.mine || p.own, false, true
	p.dirty = p.dirty || own.term != p.term
	if own.guards {
		p.guards.written = own.at
	}
	p.count(own.nodes, own.guards)
	for _, k := range []Kind{unwritten, invalid, stale, foreign} {
		p.problem(k, "")
	}
}

// describe describes the content that does not fit; it returns "" if everything fits.
func describe(leftOut journal.LeftOut) string {
	var texts []string
	if nodes := leftOut.Nodes; len(nodes) > 0 {
		texts = append(texts, fmt.Sprintf("%d nodes do not fit, and their countdowns start again after a restart: %s",
			len(nodes), joined(nodes, 5, ", ")))
	}
	if leftOut.Guards {
		texts = append(texts, "the record of guards and holds does not fit: after a restart, trips are not known, and all holds count as ended then")
	}
	return strings.Join(texts, "; ")
}
