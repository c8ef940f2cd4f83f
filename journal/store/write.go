package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/journal"
)

const (
	// batch is the shortest time between two writes of a partition.
	batch = time.Second

	// throughput is how many bytes of a large partition are written in a second.
	throughput = 256 << 10

	// stampEvery is how often a partition that has records is written although nothing has changed. The age of a
	// partition then shows whether its writer could still write it.
	stampEvery = 20 * time.Second

	// staleAfter is how much older than the last proof of a leader a partition may be.
	staleAfter = 3 * stampEvery

	// callTimeout bounds one write.
	callTimeout = 10 * time.Second

	// leadingPoll is how long writes pause when Leading returns false.
	leadingPoll = time.Second
)

// work writes the partition if a write is due. It returns the time until the next write may be due; 0 means after the
// next change.
func (p *partition) work(ctx context.Context) time.Duration {
	term := p.follow()
	at, due := p.due()
	switch {
	case term == nil:
		p.release()
		return 0
	case due && !p.keeper.options.Leading():
		p.release()
		return leadingPoll
	case due && !time.Now().Before(at):
		p.write(ctx, term.ctx)
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

// follow returns the present term; nil if this process must not write. When a term has ended, it resets the state of a
// leader: from then on, what others write counts.
func (p *partition) follow() *term {
	now := p.keeper.leads()
	if now == nil || now != p.term {
		p.standBy()
	}
	p.term = now
	return now
}

// standBy resets the state of a leader.
func (p *partition) standBy() {
	p.mine, p.failed, p.retry = false, false, time.Time{}
	p.problem(unwritten, "")
	p.problem(full, "")
	p.release()
}

// due returns when the partition is checked for changes to write; false if it is not.
func (p *partition) due() (time.Time, bool) {
	switch {
	case !p.opened || !p.usable:
		return time.Time{}, false
	case p.dirty:
		return latest(p.paced, p.retry), true
	case p.filled:
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

// writing is one writing of this process.
type writing struct {
	term   *term
	at     time.Time
	nodes  int
	guards bool
}

// write stores what the partition is to contain if it differs from what is stored.
func (p *partition) write(ctx, term context.Context) {
	p.dirty = false // later changes set it again
	now := time.Now()
	partition := journal.Partition{Written: now, Records: p.records(now), Guards: p.guards(now)}
	data, leftOut := journal.Encode(partition)
	p.problem(full, named(leftOut))
	own := writing{p.term, now, len(partition.Records) - len(leftOut.Nodes), partition.Guards != nil && !leftOut.Guards}
	if !p.worthWriting(data, &own) {
		p.mine = true
		return
	}
	content := journal.StoredPartition{Name: p.content.Name, Version: p.content.Version, Data: data}
	p.sent[digestOf(data)] = own
	version, err := p.store(ctx, term, content)
	p.paced = time.Now().Add(max(batch, time.Duration(journal.Size(data))*time.Second/throughput))
	p.keeper.options.Metrics.wrote(err)
	if err != nil {
		p.failedToWrite(err, term.Err() == nil && ctx.Err() == nil)
		return
	}
	content.Version = version
	p.written(content, own)
}

// digest identifies the data of one writing.
type digest [sha256.Size]byte

func digestOf(data map[string]string) digest {
	text, _ := json.Marshal(data) // never fails; the keys are sorted
	return sha256.Sum256(text)
}

// records returns the records of the partition's nodes.
func (p *partition) records(now time.Time) map[string]journal.Record {
	records := map[string]journal.Record{}
	for _, n := range p.keeper.options.Source.Tainted() {
		if journal.PartitionOf(n.Name) == p.number && len(n.Taints)+len(n.Triggers) > 0 {
			records[n.Name] = journal.RecordOf(n, now)
		}
	}
	return records
}

// worthWriting reports whether the data differ from what is stored, or the partition needs a new time of writing.
func (p *partition) worthWriting(data map[string]string, w *writing) bool {
	if !journal.Same(data, p.content.Data) {
		return true
	}
	return (w.nodes > 0 || w.guards) && !w.at.Before(p.stamp.Add(stampEvery))
}

// store makes the call. It is cancelled when the term ends, and when the keeper does.
func (p *partition) store(ctx, term context.Context, s journal.StoredPartition) (string, error) {
	call, cancel := context.WithTimeout(term, callTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return p.keeper.options.Partitions.Write(call, p.number, s)
}

func (p *partition) failedToWrite(err error, wanted bool) {
	p.dirty, p.failed = true, true
	p.retry = time.Now().Add(p.tries.Step())
	if wanted && !p.lacks(err) {
		p.fail(unwritten, err)
	}
}

// written notes that the partition is as this process wants it. What it has written in an earlier term does not show that:
// another leader may have written since, and its content must be adopted.
func (p *partition) written(s journal.StoredPartition, own writing) {
	p.content, p.stamp, p.retry, p.tries = s, own.at, time.Time{}, backoff()
	p.sent = map[digest]writing{digestOf(s.Data): own}
	p.mine, p.failed = p.mine || own.term == p.term && p.term != nil, false
	if own.guards {
		p.keeper.guards.written(own.at)
	}
	p.count(own.nodes, own.guards)
	p.lacks(nil)
	for _, k := range []kind{unwritten, nonsense, stale} {
		p.problem(k, "")
	}
}

// flush waits until the changes are written, or a write has failed, or the context ends.
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

// hurry makes the partition retry a failed write at once, because a flush waits for it.
func (p *partition) hurry(done chan struct{}) {
	select {
	case <-p.changed:
		p.dirty = true
	default:
	}
	p.retry, p.failed = time.Time{}, false
	p.waiting = append(p.waiting, done)
}

// release closes the channels of the flushes that wait.
func (p *partition) release() {
	for _, done := range p.waiting {
		close(done)
	}
	p.waiting = nil
}

// named describes what does not fit; it returns "" if all does.
func named(leftOut journal.LeftOut) string {
	const most = 5
	var texts []string
	if nodes := leftOut.Nodes; len(nodes) > 0 {
		texts = append(texts, fmt.Sprintf("%d nodes do not fit, and their countdowns start again after a restart: %s", len(nodes), strings.Join(nodes[:min(len(nodes), most)], ", ")))
	}
	if leftOut.Guards {
		texts = append(texts, "the record of guards and holds does not fit: after a restart, trips are not known, and all holds count as ended then")
	}
	return strings.Join(texts, "; ")
}
