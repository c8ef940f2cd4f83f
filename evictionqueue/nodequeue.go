package evictionqueue

import "time"

// The node queues in the round robin form two rings: of nodes that have been served since they joined, and of nodes
// that have not. The first two node queues belong to no node: they mark the beginning and the end of the rings.
const (
	regulars int32 = iota
	newcomers
	rings
)

// nodeQueue holds the entries of one node.
type nodeQueue struct {
	node  string
	items []item // a heap; empty only in node queues not in use

	pos int32 // in waiting or due

	// Neighbours in the round robin. next is outside while the node queue is not in it, and the next unused
	// one while it is not in use.
	prev, next int32
}

const outside = -1

// item is an entry's place in its node queue: all that the order needs except the UID.
type item struct {
	at       time.Time
	priority int32
	stored   int32
}

// byDeadline is the order of the items of a node queue.
type byDeadline[B any] struct{ h *Heap[B] }

func (o byDeadline[B]) before(a, b item) bool {
	if c := a.at.Compare(b.at); c != 0 {
		return c < 0
	}
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return o.h.stored.at(a.stored).uid < o.h.stored.at(b.stored).uid
}

func (o byDeadline[B]) moved(t item, i int32) { o.h.stored.at(t.stored).pos = i }

// byFirst is the order of node queues: that of their first items.
type byFirst[B any] struct{ h *Heap[B] }

func (o byFirst[B]) before(a, b int32) bool {
	return byDeadline[B](o).before(*o.h.first(a), *o.h.first(b))
}

func (o byFirst[B]) moved(l, i int32) { o.h.queues.at(l).pos = i }

func (h *Heap[B]) first(l int32) *item { return &h.queues.at(l).items[0] }

func (h *Heap[B]) findQueue(node string) (int32, bool) {
	return h.byNode.find(node, func(l int32) bool { return h.queues.at(l).node == node })
}

// queueOf returns the node's queue, a new one when there is none. A new one is empty and in neither
// heap until it is repositioned.
func (h *Heap[B]) queueOf(node string) int32 {
	l, ok := h.findQueue(node)
	if ok {
		return l
	}
	l = h.unusedQueue()
	*h.queues.at(l) = nodeQueue{node: node, pos: outside, next: outside}
	h.byNode.add(node, l)
	return l
}

func (h *Heap[B]) unusedQueue() int32 {
	for ring := h.queues.n; ring < rings; ring++ {
		h.queues.push(nodeQueue{prev: ring, next: ring})
	}
	l := h.free
	if l == 0 {
		return h.queues.push(nodeQueue{})
	}
	h.free = h.queues.at(l).next
	return l
}

// reposition moves a node queue to its position after its items have changed. It lets no node queue join the round
// robin: that takes the time. If its first entry is unchanged, with the same time, the node queue is in its
// position already, and the memory of its neighbours need not be touched.
func (h *Heap[B]) reposition(l int32, firstChanged bool) {
	ln := h.queues.at(l)
	switch {
	case len(ln.items) == 0:
		h.dissolve(l)
	case !firstChanged:
	case ln.pos == outside:
		h.waiting = insert(h.waiting, l, byFirst[B]{h})
	case ln.next == outside:
		fix(h.waiting, ln.pos, byFirst[B]{h})
	case ln.items[0].at.After(h.now):
		h.leave(l)
	default:
		fix(h.due, ln.pos, byFirst[B]{h})
	}
}

// dissolve frees an empty node queue.
func (h *Heap[B]) dissolve(l int32) {
	ln := h.queues.at(l)
	if ln.next == outside {
		h.waiting = without(h.waiting, ln.pos, byFirst[B]{h})
	} else {
		h.unlink(l)
		h.due = without(h.due, ln.pos, byFirst[B]{h})
	}
	h.byNode.remove(ln.node, l)
	*ln = nodeQueue{next: h.free}
	h.free = l
	if h.Len() == 0 {
		h.releaseQueues()
	}
}

// releaseQueues releases the memory of all node queues; none is in use.
func (h *Heap[B]) releaseQueues() {
	for h.queues.n > rings {
		h.queues.pop()
	}
	h.free = 0
}
