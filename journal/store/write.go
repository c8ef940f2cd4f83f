package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/journal"
)

const (
	// batch is the shortest time between two writes of a partition.
	batch = time.Second

	// throughput is how many bytes a second of a large partition are written.
	throughput = 256 << 10

	// stampEvery is how often a partition that has records is written though nothing has changed: so that
	// one which can't be written shows by its age that it must not be believed.
	stampEvery = 20 * time.Second

	// staleAfter is by how much a partition may be older than the last proof of a leader.
	staleAfter = 3 * stampEvery

	// callTimeout bounds one write.
	callTimeout = 10 * time.Second

	// leadingPoll is how long writes rest when Leading denies.
	leadingPoll = time.Second
)

// work writes the partition if it is time to. It says how long until it may be time again; 0 for when
// something has changed.
func (p *partition) work(ctx context.Context) time.Duration {
	term := p.keeper.leads()
	at, due := p.due()
	switch {
	case term == nil:
		p.standBy()
		return 0
	case due && !p.keeper.options.Leading():
		p.release()
		return leadingPoll
	case due && !time.Now().Before(at):
		p.write(ctx, term)
		at, due = p.due()
	}
	if !p.dirty || !due || p.failed {
		p.release()
	}
	if !due {
		return 0
	}
	return max(time.Until(at), time.Millisecond)
}

// standBy forgets what is a leader's.
func (p *partition) standBy() {
	p.mine, p.failed, p.retry = false, false, time.Time{}
	p.problem(unwritten, "")
	p.problem(full, "")
	p.release()
}

// due is when the partition is to be looked through for something to write; false when it is not to be.
func (p *partition) due() (time.Time, bool) {
	switch {
	case !p.opened || !p.usable:
		return time.Time{}, false
	case p.dirty:
		return latest(p.paced, p.retry), true
	case p.entries > 0:
		return latest(p.paced, p.retry, p.stamp.Add(stampEvery)), true
	}
	return time.Time{}, false
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// write stores what is known of the partition's nodes, if that is not what is stored.
func (p *partition) write(ctx, term context.Context) {
	p.dirty = false // what changes from here on wakes again
	now := time.Now()
	data, leftOut := journal.Encode(p.records(now), now)
	p.problem(full, named(leftOut))
	if !p.worthWriting(data, now) {
		p.mine = true
		return
	}
	content := journal.StoredPartition{Name: p.content.Name, Version: p.content.Version, Data: data}
	p.sent[digestOf(data)] = now
	version, err := p.store(ctx, term, content)
	p.paced = time.Now().Add(max(batch, time.Duration(journal.Size(data))*time.Second/throughput))
	p.keeper.options.Metrics.wrote(err)
	if err != nil {
		p.failedToWrite(err, term.Err() == nil && ctx.Err() == nil)
		return
	}
	content.Version = version
	p.written(content, now)
}

// digest tells the data of one writing from those of another.
type digest [sha256.Size]byte

func digestOf(data map[string]string) digest {
	text, _ := json.Marshal(data) // never fails; the keys are sorted
	return sha256.Sum256(text)
}

// records are those of the partition's nodes.
func (p *partition) records(now time.Time) map[string]journal.Record {
	records := map[string]journal.Record{}
	for _, n := range p.keeper.options.Source.Tainted() {
		if journal.PartitionOf(n.Name) == p.number {
			records[n.Name] = journal.RecordOf(n, now)
		}
	}
	return records
}

// worthWriting says whether the data are not what is stored, or are to be stamped.
func (p *partition) worthWriting(data map[string]string, now time.Time) bool {
	entries := journal.Entries(data)
	if !maps.Equal(entries, journal.Entries(p.content.Data)) {
		return true
	}
	return len(entries) > 0 && !now.Before(p.stamp.Add(stampEvery))
}

// store makes the call. It is cut when the term ends, and when the keeper does.
func (p *partition) store(ctx, term context.Context, s journal.StoredPartition) (string, error) {
	call, cancel := context.WithTimeout(term, callTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return p.keeper.options.Partitions.Write(call, p.number, s)
}

func (p *partition) failedToWrite(err error, wanted bool) {
	p.dirty, p.failed = true, true
	p.retry = time.Now().Add(p.tries.Step())
	if wanted {
		p.fail(unwritten, err)
	}
}

// written notes that the partition is as this process wants it.
func (p *partition) written(s journal.StoredPartition, now time.Time) {
	p.content, p.stamp, p.retry, p.tries = s, now, time.Time{}, backoff()
	p.sent = map[digest]time.Time{digestOf(s.Data): now}
	p.mine, p.failed = true, false
	p.count(len(journal.Entries(s.Data)))
	for _, k := range []kind{unwritten, nonsense, stale} {
		p.problem(k, "")
	}
}

// flush waits until what has changed is written, or could not be, or the context ends.
func (p *partition) flush(ctx context.Context) {
	done := make(chan struct{})
	select {
	case p.flushes <- done:
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// hurry tries once more what has failed, without waiting, for somebody who waits.
func (p *partition) hurry(done chan struct{}) {
	select {
	case <-p.changed:
		p.dirty = true
	default:
	}
	p.retry, p.failed = time.Time{}, false
	p.waiting = append(p.waiting, done)
}

// release lets go those who wait.
func (p *partition) release() {
	for _, done := range p.waiting {
		close(done)
	}
	p.waiting = nil
}

// named says which nodes have no room; empty when all have.
func named(leftOut []string) string {
	if len(leftOut) == 0 {
		return ""
	}
	const most = 5
	return fmt.Sprintf("%d nodes have no room, and their taints count anew after a restart: %s", len(leftOut), strings.Join(leftOut[:min(len(leftOut), most)], ", "))
}
