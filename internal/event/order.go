package event

import (
	"cmp"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

const (
	writers  = 2                      // few, so that events stay behind the evictions
	patience = 500 * time.Millisecond // how long a write may hold a writer
	minWait  = 5 * time.Second        // of a namespace whose write has failed, doubling up to maxWait
	maxWait  = time.Minute

	onNodes = "" // stands for the namespace of notes on nodes
)

// order decides which note is written next. It knows no clock, lock or goroutine.
//
// Each namespace has a line. Lines are served in turn, those without a write under way first. A write holds a writer
// until it has lasted for patience; then it goes on as slow, beside the writers. So at most writers/patience of them
// become slow in a second, each of another line: a line starts nothing while a write of it is slow, and waits after a
// failed write.
type order struct {
	capacity int
	waiting  int                  // notes in all lines
	lines    map[string]*line     // by namespace
	ready    []*line              // lines that may start a write; the line that was served longest ago is the first
	later    ordered.Queue[*line] // lines that wait after a failed write, by notBefore
	longest  ordered.Queue[*line] // lines of namespaces with notes; the line with the most is the first
	writing  []*write             // writes that hold a writer
}

// line holds the notes of a namespace that wait, or those on nodes, in the order of their arrival.
type line struct {
	namespace     string
	notes         []*queuedNote
	writing, slow int           // writes under way, and those of them that are slow
	wait          time.Duration // after the last write; 0 if it has not failed
	notBefore     time.Time     // of the next write
	placed        bool          // in ready or later
	laterPos      int           // in order.later
	longestPos    int           // in order.longest
}

// write is the write of a note.
type write struct {
	line   *line
	note   *queuedNote
	begins time.Time
	slow   bool
}

func newOrder(capacity int) *order {
	earlier := func(a, b *line) bool {
		return cmp.Or(a.notBefore.Compare(b.notBefore), cmp.Compare(a.namespace, b.namespace)) < 0
	}
	longer := func(a, b *line) bool {
		return cmp.Or(len(b.notes)-len(a.notes), cmp.Compare(a.namespace, b.namespace)) < 0
	}
	return &order{
		capacity: capacity, lines: map[string]*line{},
		later:   ordered.New(earlier, func(l *line) *int { return &l.laterPos }),
		longest: ordered.New(longer, func(l *line) *int { return &l.longestPos }),
	}
}

// put adds a note. If there is no room, it returns the note that is dropped: the newest of the longest line of a
// namespace. A note on a node is dropped only if no note of a namespace waits.
func (o *order) put(n *queuedNote) (dropped *queuedNote) {
	l := o.lines[n.namespace()]
	if l == nil {
		l = &line{namespace: n.namespace()}
	}
	if o.waiting == o.capacity {
		longest, ok := o.longest.First()
		if !ok {
			return n
		}
		last := len(longest.notes) - 1
		if l.namespace != onNodes && len(l.notes) >= last {
			return n
		}
		dropped, longest.notes[last] = longest.notes[last], nil
		longest.notes = longest.notes[:last]
		o.count(longest, -1)
	}
	o.lines[l.namespace] = l
	l.notes = append(l.notes, n)
	o.count(l, 1)
	o.place(l, n.at)
	return dropped
}

// count counts notes that a line has got; negative: that have left it.
func (o *order) count(l *line, notes int) {
	o.waiting += notes
	o.longest.Include(l, len(l.notes) > 0 && l.namespace != onNodes)
}

// place puts the line where it belongs now.
func (o *order) place(l *line, now time.Time) {
	switch {
	case l.placed || l.slow > 0 || l.writing == writers: // placed again by next or end
	case now.Before(l.notBefore):
		o.later.Set(l)
		l.placed = true
	case len(l.notes) > 0:
		o.ready = append(o.ready, l)
		l.placed = true
	case l.writing == 0:
		delete(o.lines, l.namespace)
	}
}

// next starts the write whose turn it is, to begin after the delay. Nil: no write may start.
func (o *order) next(now time.Time, delay time.Duration) *write {
	o.refresh(now)
	for len(o.ready) > 0 && len(o.writing) < writers {
		l := popFront(&o.ready)
		if l.writing > 0 && len(o.ready) > 0 { // only one can, while a writer is free
			o.ready = append(o.ready, l)
			l = popFront(&o.ready)
		}
		l.placed = false
		if l.slow == 0 && !now.Before(l.notBefore) {
			return o.start(l, now, delay)
		}
		o.place(l, now)
	}
	return nil
}

func (o *order) start(l *line, now time.Time, delay time.Duration) *write {
	w := &write{line: l, note: popFront(&l.notes), begins: now.Add(delay)}
	o.count(l, -1)
	l.writing++
	o.writing = append(o.writing, w)
	o.place(l, now)
	return w
}

// refresh takes in that time has passed: writes become slow, and lines have waited.
func (o *order) refresh(now time.Time) {
	o.writing = slices.DeleteFunc(o.writing, func(w *write) bool {
		w.slow = now.Sub(w.begins) >= patience
		if w.slow {
			w.line.slow++
		}
		return w.slow
	})
	for l, ok := o.later.First(); ok && !now.Before(l.notBefore); l, ok = o.later.First() {
		o.later.Remove(l)
		l.placed = false
		o.place(l, now)
	}
}

// wake returns when next may start a write even if nothing else happens; zero if never.
func (o *order) wake() (at time.Time) {
	if l, ok := o.later.First(); ok {
		at = l.notBefore
	}
	for _, w := range o.writing {
		if slow := w.begins.Add(patience); at.IsZero() || slow.Before(at) {
			at = slow
		}
	}
	return at
}

// end takes in that a write has ended.
func (o *order) end(w *write, failed bool, now time.Time) {
	l := w.line
	l.writing--
	if w.slow {
		l.slow--
	} else {
		o.writing = slices.DeleteFunc(o.writing, func(other *write) bool { return other == w })
	}
	switch {
	case !failed:
		l.wait = 0
	case !w.begins.Before(l.notBefore): // of writes that fail together, the first counts
		l.wait = min(max(minWait, 2*l.wait), maxWait)
		l.notBefore = now.Add(l.wait)
	}
	o.place(l, now)
}

// popFront removes and returns the first element.
func popFront[T any](queue *[]*T) *T {
	first := (*queue)[0]
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	return first
}
