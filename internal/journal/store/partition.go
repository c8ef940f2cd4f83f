package store

import (
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// partition is the state of one partition.
type partition struct {
	*Core
	number int
	news   *Heard // that was not processed yet
	known  bool   // it was read, or found to be forbidden

	content journal.StoredPartition // the latest known content
	writing journal.Writing         // of the content
	opened  bool                    // the partition was read
	foreign bool                    // another process has written the content, and its records may be used
	mine    bool                    // this process has written it in this term
	own     bool                    // this process has written the content in this term
	undone  time.Time               // when a leader last replaced what another client had written
	waiting map[string]*waiting     // records of nodes that are not read so far yet

	dirty bool          // there may be something to write
	call  *writing      // the write under way; nil if there is none
	sent  *writing      // the last write that may be stored; nil before the first
	stamp time.Time     // when it was last written
	paced time.Time     // no write starts before
	retry time.Time     // after a failure, no write starts before; a flush and a successful read reset it
	pause time.Duration // after the last write, if it failed

	problems map[Kind]string
	records  int  // the nodes that it records
	filled   bool // it records nodes, or guards and holds
}

func newPartition(c *Core, number int) *partition {
	return &partition{Core: c, number: number, problems: map[Kind]string{}}
}

// hear notes news, until it is processed. A content that was not processed yet outlives an error.
func (p *partition) hear(in Heard) {
	if p.news != nil && in.Content == nil {
		in.Content = p.news.Content
	}
	p.news = &in
}

// work processes the news and writes if a write is due. News waits until a write is answered, as it may be about that
// write.
func (p *partition) work() {
	if !p.synced {
		return
	}
	if p.call == nil && p.news != nil {
		p.process()
	}
	p.resolveWaiting()
	p.writeIfDue()
}

// process processes the news.
func (p *partition) process() {
	h := p.news
	p.news = nil
	if h.Content != nil && p.isNews(h.Content.Version) {
		p.open(*h.Content)
	}
	p.fail(unread, h.Err)
	if h.Err == nil {
		p.retry = time.Time{}
	}
	p.known = p.known || p.opened || apierrors.IsForbidden(h.Err)
}

// isNews reports whether a version of the partition differs from the known version. A watch may lag behind this
// process's own writes: where versions are ordered, an older version is ignored, unless a failed write has shown that
// the known version is wrong.
func (p *partition) isNews(version string) bool {
	switch {
	case !p.opened:
		return true
	case version == p.content.Version:
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, p.content.Version)
	return err != nil || order > 0 || p.pause > 0
}

// open decodes a content. Once this process has written the partition as leader, it knows the nodes better than others
// do. So it writes back its own records, also if others have written another version of the format. It adopts nothing
// of its own writings, because their times were converted to the wall clock.
func (p *partition) open(s journal.StoredPartition) {
	if p.sent != nil && maps.Equal(p.sent.data, s.Data) {
		p.stored(s, p.sent)
		return
	}
	content, dropped, err := journal.Decode(p.number, s.Data)
	first := !p.opened
	p.content, p.own, p.opened, p.dirty = s, false, true, true
	if p.mine {
		err = nil
	}
	p.foreign = err == nil && !p.mine
	before := p.writing
	p.writing = journal.Writing{At: content.Written, Stored: s.Stored, Received: s.Received, Undone: content.Undone}
	if p.undone = content.Undone; p.mine {
		p.undone = p.now
	}
	if p.stamp = content.Written; p.stamp.After(p.now) {
		p.stamp = p.now
	}
	p.fail(foreign, err)
	p.problem(invalid, joined(dropped, 10, "; "))
	p.count(len(content.Records), content.Guards != nil)
	if !p.mine {
		p.adopt(content, first, before.Undone)
	}
}

// adopt passes the records on. The time of the writing does not prove that a process watched the nodes beyond what the
// records hold: they contain what their writer saw, with each taint's timeAdded.
func (p *partition) adopt(content journal.Partition, first bool, undoneBefore time.Time) {
	last := p.options.LastLed
	if p.filled && !last.IsZero() && last.Sub(content.Written) > staleAfter {
		p.problem(stale, fmt.Sprintf("it was written at %v, and another process has led until %v without writing it: its records may be out of date, and are not believed", content.Written, last))
		p.foreign, content = false, journal.Partition{}
	} else {
		p.problem(stale, "")
	}
	p.adoptGuards(content.Guards, first)
	if p.foreign && !p.undone.IsZero() && !p.undone.Equal(undoneBefore) {
		p.withUnrecorded(content.Records)
	}
	p.offer(content.Records)
}

// reportMissing notes that decisions begin without this partition.
func (p *partition) reportMissing() {
	if !p.opened && p.problems[unread] == "" {
		p.problem(unread, fmt.Sprintf("no answer within %v", loadTimeout))
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
