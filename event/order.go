package event

import (
	"slices"
	"time"
)

const (
	writers  = 2                      // few, so that events stay behind the evictions
	patience = 500 * time.Millisecond // how long a write may hold a writer
	minWait  = 5 * time.Second        // of a namespace whose write has failed, doubling up to maxWait
	maxWait  = time.Minute
)

// order decides which note is written next. It knows no clock, lock or goroutine.
//
// Each namespace has a line. Lines are served in turn, those without a write under way first. A write holds a writer
// until it has lasted for patience; then it goes on as slow, beside the writers. So at most writers/patience of them
// become slow in a second, each of another line: a line starts nothing while a write of it is slow, and waits after a
// failed write.
type order struct {
	capacity int
	waiting  int              // notes in all lines
	lines    map[string]*line // by namespace
	ready    []*line          // lines that may start a write; the line that was served longest ago is the first
	later    []*line          // lines that wait after a failed write, by notBefore
	byLength []*line          // lines with notes; the line with the most is the first
	atLeast  []int            // by number of notes: how many lines have this number or more
	writing  []*write         // writes that hold a writer
}

// line holds the notes of a namespace that wait, in the order of their arrival.
type line struct {
	namespace     string
	notes         []*queuedNote
	writing, slow int           // writes under way, and those of them that are slow
	wait          time.Duration // after the last write; 0 if it has not failed
	notBefore     time.Time     // of the next write
	placed        bool          // in ready or later
	index         int           // in byLength
}

// write is the write of a note.
type write struct {
	line   *line
	note   *queuedNote
	begins time.Time
	slow   bool
}

func newOrder(capacity int) *order {
	return &order{capacity: capacity, lines: map[string]*line{}, atLeast: make([]int, capacity+2)}
}

// put adds a note. If there is no room, it returns the note that is dropped: the newest of the longest line.
func (o *order) put(n *queuedNote) (dropped *queuedNote) {
	l := o.lines[n.note.Pod.Namespace]
	if l == nil {
		l = &line{namespace: n.note.Pod.Namespace}
	}
	if o.waiting == o.capacity {
		longest := o.byLength[0]
		last := len(longest.notes) - 1
		if len(l.notes) >= last {
			return n
		}
		dropped, longest.notes[last] = longest.notes[last], nil
		longest.notes = longest.notes[:last]
		o.shortened(longest)
	}
	o.lines[l.namespace] = l
	l.notes = append(l.notes, n)
	o.lengthened(l)
	o.place(l, n.at)
	return dropped
}

// lengthened keeps byLength sorted after a line got a note: the line swaps with the first of those that were as long.
func (o *order) lengthened(l *line) {
	length := len(l.notes)
	if length == 1 {
		l.index = len(o.byLength)
		o.byLength = append(o.byLength, l)
	}
	o.swap(l, o.byLength[o.atLeast[length]])
	o.atLeast[length]++
	o.waiting++
}

// shortened keeps byLength sorted after a note left a line: the line swaps with the last of those that were as long.
func (o *order) shortened(l *line) {
	length := len(l.notes) + 1
	o.waiting--
	o.atLeast[length]--
	o.swap(l, o.byLength[o.atLeast[length]])
	if length == 1 {
		o.byLength[l.index] = nil
		o.byLength = o.byLength[:l.index]
	}
}

func (o *order) swap(a, b *line) {
	a.index, b.index = b.index, a.index
	o.byLength[a.index], o.byLength[b.index] = a, b
}

// place puts the line where it belongs now.
func (o *order) place(l *line, now time.Time) {
	switch {
	case l.placed || l.slow > 0 || l.writing == writers: // placed again by next or end
	case now.Before(l.notBefore):
		at, _ := slices.BinarySearchFunc(o.later, l, func(a, b *line) int { return a.notBefore.Compare(b.notBefore) })
		o.later = slices.Insert(o.later, at, l)
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
	o.shortened(l)
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
	for len(o.later) > 0 && !now.Before(o.later[0].notBefore) {
		l := popFront(&o.later)
		l.placed = false
		o.place(l, now)
	}
}

// wake returns when next may start a write even if nothing else happens; zero if never.
func (o *order) wake() (at time.Time) {
	if len(o.later) > 0 {
		at = o.later[0].notBefore
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
