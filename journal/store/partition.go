package store

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/journal"
)

// partition is the state of one partition.
type partition struct {
	*Core
	number int
	heard  *Heard // and not processed yet
	known  bool   // it was read, or found to be forbidden

	content journal.StoredPartition // the latest known content
	writing journal.Writing         // of the content
	opened  bool                    // the partition was read
	usable  bool                    // its format version is the supported one, or this leader had it in use
	foreign bool                    // another process has written the content, and its records may be used
	mine    bool                    // this process has written it in this term
	own     bool                    // the content is what this process has written in this term
	waiting map[string]*waiting     // records of nodes that are not read so far yet

	dirty   bool          // there may be something to write
	failed  bool          // the last write failed
	awaited bool          // a flush waits for it
	call    *writing      // the write under way; nil if there is none
	sent    []writing     // the writings of this process that may be stored, the oldest first
	stamp   time.Time     // when it was last written
	paced   time.Time     // no write starts before
	retry   time.Time     // no write starts before, except for a flush or after a successful read
	pause   time.Duration // after the last failure

	problems map[Kind]string
	records  int  // the nodes that it records
	filled   bool // it records nodes, or guards and holds
}

func newPartition(c *Core, number int) *partition {
	return &partition{Core: c, number: number, problems: map[Kind]string{}}
}

// hear notes what was heard, for when it is processed.
func (p *partition) hear(in Heard) {
	if p.heard != nil {
		in = in.after(*p.heard)
	}
	p.heard = &in
}

// work does what is due. What was heard waits until a write is answered, because it may be about that write.
func (p *partition) work() {
	if !p.synced {
		p.awaited = false
		return
	}
	if p.call == nil && p.heard != nil {
		p.process()
	}
	p.await()
	p.writeIfDue()
}

// process processes what was heard.
func (p *partition) process() {
	h := p.heard
	p.heard = nil
	if h.Content != nil && p.isNews(h.Content.Version) {
		p.open(*h.Content)
	}
	p.fail(unread, h.Err)
	if h.Err == nil {
		p.retry = time.Time{}
	}
	p.known = p.known || p.opened || apierrors.IsForbidden(h.Err)
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

// open decodes a content. Once this process has written the partition as leader, what
// it knows of the nodes is better than what others write, and better than its own writings, whose times were converted
// to the wall clock. So it writes back whatever others have written, also a partition of another version.
func (p *partition) open(s journal.StoredPartition) {
	if own := p.sentAs(s.Data); own != nil {
		p.stored(s, *own)
		return
	}
	content, dropped, err := journal.Decode(p.number, s.Data)
	first := !p.opened
	p.content, p.own, p.opened, p.dirty = s, false, true, true
	p.usable, p.foreign = err == nil || p.mine, err == nil && !p.mine
	p.writing = journal.Writing{At: content.Written, Stored: s.Stored, Received: s.Received}
	if p.stamp = content.Written; p.stamp.After(p.now) {
		p.stamp = p.now
	}
	if p.usable {
		err = nil
	}
	p.fail(foreign, err)
	p.problem(nonsense, list(dropped))
	p.count(len(content.Records), content.Guards != nil)
	if !p.mine {
		p.adopt(content, first)
	}
}

// adopt passes the records on. The time of the writing does not prove that a process watched the nodes beyond what the
// records hold: they contain what their writer saw, with each taint's timeAdded.
func (p *partition) adopt(content journal.Partition, first bool) {
	last := p.options.LastLed
	if p.filled && !last.IsZero() && last.Sub(content.Written) > staleAfter {
		p.problem(stale, fmt.Sprintf("it was written at %v, and another process has led until %v without writing it: its records may be out of date, and are not believed", content.Written, last))
		p.foreign, content = false, journal.Partition{}
	} else {
		p.problem(stale, "")
	}
	p.adoptGuards(content.Guards, first)
	p.offer(content.Records)
}

// late notes that decisions begin without this partition.
func (p *partition) late() {
	if !p.opened && p.problems[unread] == "" {
		p.problem(unread, fmt.Sprintf("no answer within %v", patience))
	}
}

// count notes the number of nodes that the partition records, and whether it records guards and holds.
func (p *partition) count(records int, guards bool) {
	p.records, p.filled = records, records > 0 || guards
}

// name returns the name of the partition for messages.
func (p *partition) name() string {
	if p.content.Name != "" {
		return p.content.Name
	}
	return fmt.Sprintf("partition %d", p.number)
}
