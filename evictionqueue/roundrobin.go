package evictionqueue

import "time"

// stay is the number of entries of a regular that are served before the next one. A caller that reads a node
// before it evicts its pods then reads it once for all of them.
const stay = 8

// advance brings the round robin up to now: nodes that have something due join it, and, when now is
// before the last one, nodes that have nothing due any more leave it.
func (h *Heap[B]) advance(now time.Time) {
	back := now.Before(h.now)
	h.now = now
	if back {
		h.dismiss()
	}
	for len(h.waiting) > 0 && !h.first(h.waiting[0]).at.After(now) {
		h.join(h.waiting[0])
	}
}

// dismiss removes every node that has nothing due from the round robin.
func (h *Heap[B]) dismiss() {
	for _, ring := range []int32{newcomers, regulars} {
		for l := h.front(ring); l != ring; {
			next := h.queues.at(l).next
			if h.first(l).at.After(h.now) {
				h.leave(l)
			}
			l = next
		}
	}
}

// join moves a node queue from waiting to the end of the newcomers.
func (h *Heap[B]) join(l int32) {
	h.waiting = without(h.waiting, h.queues.at(l).pos, byFirst[B]{h})
	h.due = insert(h.due, l, byFirst[B]{h})
	h.linkLast(newcomers, l)
}

// leave moves a node queue from the round robin to waiting.
func (h *Heap[B]) leave(l int32) {
	h.unlink(l)
	h.due = without(h.due, h.queues.at(l).pos, byFirst[B]{h})
	h.waiting = insert(h.waiting, l, byFirst[B]{h})
}

// serve returns the next node queue and moves it to its new place; some node queue is in the round robin.
func (h *Heap[B]) serve() int32 {
	newcomer, regular := h.front(newcomers), h.front(regulars)
	if newcomer != newcomers && (h.regularLast || regular == regulars) {
		h.regularLast = false
		h.unlink(newcomer)
		h.linkLast(regulars, newcomer)
		return newcomer
	}
	h.regularLast = true
	if h.stayed++; h.stayed == stay {
		h.unlink(regular)
		h.linkLast(regulars, regular)
	}
	return regular
}

// front returns the first node queue of a ring; the ring itself when it is empty.
func (h *Heap[B]) front(ring int32) int32 {
	if h.queues.n == 0 {
		return ring
	}
	return h.queues.at(ring).next
}

func (h *Heap[B]) linkLast(ring, l int32) {
	end, ln := h.queues.at(ring), h.queues.at(l)
	ln.prev, ln.next = end.prev, ring
	h.queues.at(end.prev).next = l
	end.prev = l
}

func (h *Heap[B]) unlink(l int32) {
	if l == h.front(regulars) {
		h.stayed = 0
	}
	ln := h.queues.at(l)
	h.queues.at(ln.prev).next = ln.next
	h.queues.at(ln.next).prev = ln.prev
	ln.prev, ln.next = 0, outside
}
