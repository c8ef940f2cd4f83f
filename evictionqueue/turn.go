package evictionqueue

import "time"

// advance brings the turn up to now: nodes that have something due join it, and, when now is
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

// dismiss lets every node leave the turn that has nothing due.
func (h *Heap[B]) dismiss() {
	for l := h.front(); l != 0; {
		next := h.lanes.at(l).next
		if h.first(l).at.After(h.now) {
			h.leave(l)
		}
		l = next
	}
}

// join moves a lane from waiting to the end of the turn.
func (h *Heap[B]) join(l int32) {
	h.waiting = without(h.waiting, h.lanes.at(l).pos, heads[B]{h})
	h.due = insert(h.due, l, heads[B]{h})
	h.linkLast(l)
}

// leave moves a lane from the turn to waiting.
func (h *Heap[B]) leave(l int32) {
	h.unlink(l)
	h.due = without(h.due, h.lanes.at(l).pos, heads[B]{h})
	h.waiting = insert(h.waiting, l, heads[B]{h})
}

// front is the lane whose turn it is; 0 when the turn is empty.
func (h *Heap[B]) front() int32 {
	if h.lanes.n == 0 {
		return 0
	}
	return h.lanes.at(0).next
}

func (h *Heap[B]) linkLast(l int32) {
	ring, ln := h.lanes.at(0), h.lanes.at(l)
	ln.prev, ln.next = ring.prev, 0
	h.lanes.at(ring.prev).next = l
	ring.prev = l
}

func (h *Heap[B]) unlink(l int32) {
	ln := h.lanes.at(l)
	h.lanes.at(ln.prev).next = ln.next
	h.lanes.at(ln.next).prev = ln.prev
	ln.prev, ln.next = 0, outside
}
