package store

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/taint-manager/taint-manager/journal"
)

// partition is one partition; one goroutine owns it.
type partition struct {
	keeper  *Keeper
	number  int
	reports chan report   // of Watch: the latest
	changed chan struct{} // there may be something to write
	flushes chan chan struct{}
	known   chan struct{} // closed once the partition was read, or was found to be forbidden

	// The fields below belong to the partition's goroutine.

	content journal.StoredPartition // the latest known content
	opened  bool                    // the partition was read
	usable  bool                    // its format version is the supported one
	dirty   bool                    // there may be something to write
	failed  bool                    // the last write failed
	term    *term                   // that the goroutine has last seen; nil if it did not lead
	mine    bool                    // in this term, its content was as this process wants it
	sent    map[digest]writing      // the writings of this process that may be stored
	stamp   time.Time               // when it was last written
	paced   time.Time               // no write starts before
	retry   time.Time               // no write starts before, except for a flush or after a successful read
	tries   wait.Backoff

	waiting  []chan struct{} // closed when the changes are written
	problems map[kind]string
	entries  int  // the nodes that it records
	filled   bool // it records nodes, or guards and holds
}

func newPartition(k *Keeper, number int) *partition {
	return &partition{
		keeper: k, number: number,
		reports: make(chan report, 1), changed: make(chan struct{}, 1),
		flushes: make(chan chan struct{}), known: make(chan struct{}),
		sent: map[digest]writing{}, tries: backoff(), problems: map[kind]string{},
	}
}

// backoff returns the delays between failed attempts.
func backoff() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 30 * time.Second}
}

// report is what Watch has reported: the result of the last read, and the last content that was not processed yet.
type report struct {
	content *journal.StoredPartition
	at      time.Time // when the content was received
	err     error
}

// tell replaces a report that was not processed yet. Only Watch's goroutine calls it.
func (p *partition) tell(s journal.StoredPartition, err error) {
	r := report{content: &s, at: time.Now()}
	if err != nil {
		r = report{err: err}
	}
	select {
	case before := <-p.reports:
		if r.content == nil {
			r.content, r.at = before.content, before.at
		}
	default:
	}
	p.reports <- r
}

// wake makes the goroutine check whether there is something to write. It does not block.
func (p *partition) wake() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// run manages the partition until the context ends. It reads nothing before the source has synced, because a record of
// an unknown node has no effect.
func (p *partition) run(ctx context.Context) {
	defer p.leave()
	var reports chan report
	synced, loaded := p.keeper.options.Synced, p.keeper.loaded
	for {
		pause := p.work(ctx)
		select {
		case <-ctx.Done():
			return
		case <-synced:
			reports, synced = p.reports, nil
		case <-loaded:
			p.late()
			loaded = nil
		case r := <-reports:
			p.take(r)
		case <-p.changed:
			p.dirty = true
		case done := <-p.flushes:
			p.hurry(done)
		case <-after(pause):
		}
	}
}

// after is time.After, but returns nil for 0.
func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// take processes a report.
func (p *partition) take(r report) {
	p.follow()
	if r.content != nil && p.isNews(r.content.Version) {
		p.open(*r.content, r.at)
	}
	if p.lacks(r.err) {
		r.err = nil
	}
	p.fail(unread, r.err)
	if r.err == nil {
		p.retry = time.Time{}
	}
	if (p.opened || apierrors.IsForbidden(r.err)) && !closed(p.known) {
		close(p.known)
	}
}

// isNews reports whether a version of the partition differs from the known one. A watch may lag behind this process's
// own writes: where versions are ordered, an older version is ignored, unless a failed write has shown that the known
// one is wrong.
func (p *partition) isNews(version string) bool {
	switch {
	case !p.opened:
		return true
	case version == p.content.Version:
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, p.content.Version)
	return err != nil || order > 0 || p.failed
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// open decodes a content that was received at this moment. Once this process has written the partition as leader, what
// it knows of the nodes is better than what others write, and better than its own writings, whose times were converted
// to the wall clock.
func (p *partition) open(s journal.StoredPartition, received time.Time) {
	if own, ok := p.sent[digestOf(s.Data)]; ok {
		p.written(s, own)
		return
	}
	content, dropped, err := journal.Decode(p.number, s.Data)
	first := !p.opened
	p.content, p.opened, p.usable, p.dirty = s, true, err == nil, true
	p.stamp = content.Written
	if now := time.Now(); p.stamp.After(now) {
		p.stamp = now
	}
	p.fail(foreign, err)
	p.problem(nonsense, list(dropped))
	p.count(len(content.Records), content.Guards != nil)
	if !p.mine {
		writing := journal.Writing{At: content.Written, Stored: s.Stored}
		if s.Watched {
			writing.Received = received
		}
		p.adopt(content, writing, first)
	}
}

// adopt passes the records to the source. The time of the writing does not prove that a process watched the nodes
// beyond what the records hold: they contain what their writer saw, with each taint's timeAdded.
func (p *partition) adopt(content journal.Partition, writing journal.Writing, first bool) {
	if behind := p.keeper.options.LastLed.Sub(content.Written); p.filled && !p.keeper.options.LastLed.IsZero() && behind > staleAfter {
		p.problem(stale, fmt.Sprintf("it was written at %v, and another process has led until %v without writing it: its records may be out of date, and are not believed", content.Written, p.keeper.options.LastLed))
		p.adoptGuards(nil, nil, first)
		return
	}
	p.problem(stale, "")
	p.adoptGuards(content.Guards, &writing, first)
	for node, record := range content.Records {
		record.Writing = writing
		if p.keeper.options.Source.Adopt(node, record) {
			p.keeper.options.Adopted(node)
		}
	}
}

// late notes that decisions begin without this partition.
func (p *partition) late() {
	if !p.opened && p.problems[unread] == "" {
		p.problem(unread, fmt.Sprintf("no answer within %v", patience))
	}
}

// leave removes this partition's share of the keeper's metrics, and closes what waits for it.
func (p *partition) leave() {
	for k := range p.problems {
		p.keeper.troubles.forget(k)
	}
	p.count(0, false)
	p.release()
}

// count notes the number of nodes that the partition records, and whether it records guards and holds.
func (p *partition) count(entries int, guards bool) {
	p.keeper.options.Metrics.entries.Add(float64(entries - p.entries))
	p.entries, p.filled = entries, entries > 0 || guards
}

// name returns the name of the partition for messages.
func (p *partition) name() string {
	if p.content.Name != "" {
		return p.content.Name
	}
	return fmt.Sprintf("partition %d", p.number)
}
