package evictionqueue

import "time"

// The lanes in the turn form two rings, of nodes that were served since they joined and of nodes that
// were not. The first two lanes are no nodes': they are where the rings begin and end.
const (
	regulars int32 = iota
	newcomers
	rings
)

// lane holds the entries of one node.
type lane struct {
	node  string
	items []item // a heap; empty only in lanes not in use

	pos int32 // in waiting or due

	// Neighbours in the turn. next is outside while the lane is not in it, and the next unused
	// lane while it is not in use.
	prev, next int32
}

const outside = -1

// item is an entry's place in its lane: all that the order needs, but for the UID.
type item struct {
	at       time.Time
	priority int32
	slot     int32
}

// earliest is the order of the items of a lane.
type earliest[B any] struct{ h *Heap[B] }

func (o earliest[B]) before(a, b item) bool {
	if c := a.at.Compare(b.at); c != 0 {
		return c < 0
	}
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return o.h.slots.at(a.slot).uid < o.h.slots.at(b.slot).uid
}

func (o earliest[B]) moved(t item, i int32) { o.h.slots.at(t.slot).pos = i }

// heads is the order of lanes: that of their first items.
type heads[B any] struct{ h *Heap[B] }

func (o heads[B]) before(a, b int32) bool {
	return earliest[B](o).before(*o.h.first(a), *o.h.first(b))
}

func (o heads[B]) moved(l, i int32) { o.h.lanes.at(l).pos = i }

func (h *Heap[B]) first(l int32) *item { return &h.lanes.at(l).items[0] }

func (h *Heap[B]) findLane(node string) (int32, bool) {
	return h.byNode.find(node, func(l int32) bool { return h.lanes.at(l).node == node })
}

// laneOf returns the node's lane, a new one when there is none. A new one is empty and in neither
// heap until it is settled.
func (h *Heap[B]) laneOf(node string) int32 {
	l, ok := h.findLane(node)
	if ok {
		return l
	}
	l = h.unusedLane()
	*h.lanes.at(l) = lane{node: node, pos: outside, next: outside}
	h.byNode.add(node, l)
	return l
}

func (h *Heap[B]) unusedLane() int32 {
	for ring := h.lanes.n; ring < rings; ring++ {
		h.lanes.push(lane{prev: ring, next: ring})
	}
	l := h.free
	if l == 0 {
		return h.lanes.push(lane{})
	}
	h.free = h.lanes.at(l).next
	return l
}

// settle puts a lane where it belongs after its items have changed. It does not let lanes join the
// turn: that takes a new look at the clock. Where its first entry is the one it was, with the
// same time, the lane is where it belongs, and the memory of its neighbours need not be touched.
func (h *Heap[B]) settle(l int32, firstChanged bool) {
	ln := h.lanes.at(l)
	switch {
	case len(ln.items) == 0:
		h.dissolve(l)
	case !firstChanged:
	case ln.pos == outside:
		h.waiting = insert(h.waiting, l, heads[B]{h})
	case ln.next == outside:
		fix(h.waiting, ln.pos, heads[B]{h})
	case ln.items[0].at.After(h.now):
		h.leave(l)
	default:
		fix(h.due, ln.pos, heads[B]{h})
	}
}

// dissolve frees an empty lane.
func (h *Heap[B]) dissolve(l int32) {
	ln := h.lanes.at(l)
	if ln.next == outside {
		h.waiting = without(h.waiting, ln.pos, heads[B]{h})
	} else {
		h.unlink(l)
		h.due = without(h.due, ln.pos, heads[B]{h})
	}
	h.byNode.remove(ln.node, l)
	*ln = lane{next: h.free}
	h.free = l
	if h.Len() == 0 {
		h.releaseLanes()
	}
}

// releaseLanes gives the memory of all lanes back; none is in use.
func (h *Heap[B]) releaseLanes() {
	for h.lanes.n > rings {
		h.lanes.pop()
	}
	h.free = 0
}
