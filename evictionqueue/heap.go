package evictionqueue

import (
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Entry is one eviction that waits.
type Entry[B any] struct {
	// UID of the pod. A heap has at most one entry for it.
	UID types.UID

	// Node is the name of the node in whose queue the entry waits.
	Node string

	// At is the deadline: the entry is due from then on.
	At time.Time

	// Priority decides between entries of one node with the same deadline: the higher goes first.
	Priority int32

	// Because is the caller's own; a pointer is best. The heap releases it with the entry.
	Because B
}

// Heap holds entries by UID and serves those that are due, in an order that is fair between nodes.
// The zero value is an empty heap. It may not be copied once used, nor be used by two goroutines at
// once.
type Heap[B any] struct {
	stored slab[stored[B]]
	byUID  index // of slots

	queues slab[nodeQueue]
	byNode index // of node queues
	free   int32 // first of the node queues not in use; 0 when there is none

	// Every node queue in use is in one of these two heaps, ordered by its first entry: in due while it
	// takes part in the round robin, in waiting otherwise.
	waiting []int32
	due     []int32

	stayed      int  // how often the first of the regulars was served in its present turn
	regularLast bool // whether the last one served was a regular

	// now is the latest time that was given: every node queue in the round robin has an entry that is due then.
	now time.Time
}

// stored holds what an entry has beside its place in the node queue. Slots are dense: the last one moves
// into the place of one that is freed.
type stored[B any] struct {
	uid     types.UID
	because B
	queue   int32
	pos     int32 // in the node queue's items
}

// Len returns the number of entries, due or not.
func (h *Heap[B]) Len() int { return int(h.stored.n) }

// Set adds the entry, or replaces the one with its UID, whose time and node may differ. A node keeps its place in
// the round robin for as long as it has anything due.
func (h *Heap[B]) Set(e Entry[B]) {
	i, ok := h.find(e.UID)
	if ok && h.queues.at(h.stored.at(i).queue).node == e.Node {
		h.replace(i, e)
		return
	}
	if ok {
		h.remove(i)
	}
	h.add(e)
}

// Cancel removes the entry of that UID, due or not, and returns it; it reports false if there is none.
func (h *Heap[B]) Cancel(uid types.UID) (Entry[B], bool) {
	i, ok := h.find(uid)
	if !ok {
		return Entry[B]{}, false
	}
	return h.remove(i), true
}

// Get returns the entry of that UID; it reports false if there is none.
func (h *Heap[B]) Get(uid types.UID) (Entry[B], bool) {
	i, ok := h.find(uid)
	if !ok {
		return Entry[B]{}, false
	}
	return h.entry(i), true
}

// Due reports whether any entry is due now: whether PopDue would return one.
func (h *Heap[B]) Due(now time.Time) bool {
	h.advance(now)
	return len(h.due) > 0
}

// PopDue removes and returns the next entry among those that are due now; it reports false if none
// is. It never returns one with a deadline after now, even when an earlier call was made with
// a later now.
func (h *Heap[B]) PopDue(now time.Time) (Entry[B], bool) {
	if !h.Due(now) {
		return Entry[B]{}, false
	}
	return h.remove(h.queues.at(h.serve()).items[0].stored), true
}

// Next returns the earliest deadline of all entries, due or not; false when there is no entry.
func (h *Heap[B]) Next() (time.Time, bool) {
	switch {
	case len(h.due) == 0:
		return h.Upcoming()
	case len(h.waiting) == 0 || (byFirst[B]{h}).before(h.due[0], h.waiting[0]):
		return h.first(h.due[0]).at, true
	}
	return h.Upcoming()
}

// Upcoming returns the earliest deadline of all nodes that were not in the round robin when [Heap.Due] or
// [Heap.PopDue] was last called or have come after; false when there is none. When nothing was
// changed since Due(now), it is after now, and the next moment at which anything changes: what
// becomes due earlier is on a node that has its turn already, behind what is due there.
func (h *Heap[B]) Upcoming() (time.Time, bool) {
	if len(h.waiting) == 0 {
		return time.Time{}, false
	}
	return h.first(h.waiting[0]).at, true
}

// All yields every entry, in no order. The heap may not be changed meanwhile.
func (h *Heap[B]) All() iter.Seq[Entry[B]] {
	return func(yield func(Entry[B]) bool) {
		for i := range h.stored.n {
			if !yield(h.entry(i)) {
				return
			}
		}
	}
}

// OnNode yields the entries of that node, in an order that only depends on the calls made so far.
// The heap may be changed meanwhile: entries that have gone from the node are not yielded, those
// that come to it after the start may not be.
func (h *Heap[B]) OnNode(node string) iter.Seq[Entry[B]] {
	return func(yield func(Entry[B]) bool) {
		for _, uid := range h.uidsOn(node) {
			e, ok := h.Get(uid)
			if ok && e.Node == node && !yield(e) {
				return
			}
		}
	}
}

func (h *Heap[B]) uidsOn(node string) []types.UID {
	l, ok := h.findQueue(node)
	if !ok {
		return nil
	}
	items := h.queues.at(l).items
	uids := make([]types.UID, len(items))
	for i := range items {
		uids[i] = h.stored.at(items[i].stored).uid
	}
	return uids
}

// find returns the slot of that UID.
func (h *Heap[B]) find(uid types.UID) (int32, bool) {
	return h.byUID.find(string(uid), func(i int32) bool { return h.stored.at(i).uid == uid })
}

// entry returns the entry in that slot.
func (h *Heap[B]) entry(i int32) Entry[B] {
	s := h.stored.at(i)
	l := h.queues.at(s.queue)
	it := &l.items[s.pos]
	return Entry[B]{UID: s.uid, Node: l.node, At: it.at, Priority: it.priority, Because: s.because}
}

// add adds an entry whose UID is not in the heap.
func (h *Heap[B]) add(e Entry[B]) {
	l := h.queueOf(e.Node)
	i := h.stored.push(stored[B]{uid: e.UID, because: e.Because, queue: l})
	h.byUID.add(string(e.UID), i)
	ln := h.queues.at(l)
	ln.items = insert(ln.items, item{e.At, e.Priority, i}, byDeadline[B]{h})
	h.reposition(l, ln.items[0].stored == i)
}

// replace replaces the entry in that slot, which has the same UID and node.
func (h *Heap[B]) replace(i int32, e Entry[B]) {
	s := h.stored.at(i)
	// The string of the UID too: the old one may be all that is left of an old pod.
	s.uid, s.because = e.UID, e.Because
	ln := h.queues.at(s.queue)
	first := s.pos == 0
	ln.items[s.pos] = item{e.At, e.Priority, i}
	fix(ln.items, s.pos, byDeadline[B]{h})
	h.reposition(s.queue, first || s.pos == 0)
}

// remove removes the entry in that slot.
func (h *Heap[B]) remove(i int32) Entry[B] {
	e := h.entry(i)
	s := h.stored.at(i)
	l := s.queue
	ln := h.queues.at(l)
	first := s.pos == 0
	ln.items = without(ln.items, s.pos, byDeadline[B]{h})
	h.release(i)
	h.reposition(l, first)
	return e
}

// release frees a slot that is no longer in a node queue.
func (h *Heap[B]) release(i int32) {
	h.byUID.remove(string(h.stored.at(i).uid), i)
	last := h.stored.n - 1
	if i != last {
		s := h.stored.at(last)
		h.byUID.move(string(s.uid), last, i)
		h.queues.at(s.queue).items[s.pos].stored = i
		*h.stored.at(i) = *s
	}
	h.stored.pop()
}
