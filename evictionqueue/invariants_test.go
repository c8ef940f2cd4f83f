package evictionqueue

import (
	"fmt"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// fataler is what the checks need of a testing.T, a testing.B or a rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checked is a heap whose invariants are checked after every operation.
type checked struct {
	t fataler
	h Heap[int]
}

func (c *checked) Set(e Entry[int]) {
	c.h.Set(e)
	checkInvariants(c.t, &c.h)
}

func (c *checked) Cancel(uid types.UID) (Entry[int], bool) {
	defer checkInvariants(c.t, &c.h)
	return c.h.Cancel(uid)
}

func (c *checked) PopDue(now time.Time) (Entry[int], bool) {
	defer checkInvariants(c.t, &c.h)
	return c.h.PopDue(now)
}

func (c *checked) Due(now time.Time) bool {
	defer checkInvariants(c.t, &c.h)
	return c.h.Due(now)
}

func (c *checked) OnNode(node string) iter.Seq[Entry[int]] { return c.h.OnNode(node) }

// drain pops all that is due now and returns the UIDs in the order of their service.
func (c *checked) drain(now time.Time) []types.UID {
	var uids []types.UID
	for {
		e, ok := c.PopDue(now)
		if !ok {
			return uids
		}
		uids = append(uids, e.UID)
	}
}

// checkInvariants checks all that the parts of a heap rely on.
func checkInvariants[B comparable](t fataler, h *Heap[B]) {
	t.Helper()
	for _, check := range []func(*Heap[B]) error{checkSlots[B], checkQueues[B], checkRoundRobin[B], checkFreed[B]} {
		if err := check(h); err != nil {
			t.Fatalf("invariant broken: %v", err)
		}
	}
}

// checkSlots: each entry is found by its UID, and its node queue has it where it says.
func checkSlots[B comparable](h *Heap[B]) error {
	if h.byUID.used != h.Len() {
		return fmt.Errorf("%d UIDs for %d entries", h.byUID.used, h.Len())
	}
	for i := range h.stored.n {
		s := h.stored.at(i)
		if found, ok := h.find(s.uid); !ok || found != i {
			return fmt.Errorf("slot %d of UID %q is found in %d, %v", i, s.uid, found, ok)
		}
		if at := h.queues.at(s.queue).items[s.pos].stored; at != i {
			return fmt.Errorf("slot %d is at its place in node queue %d as %d", i, s.queue, at)
		}
	}
	return nil
}

// checkQueues: each node queue in use is a heap, is found by its name and is where it says in one of the
// two heaps, which are in order.
func checkQueues[B comparable](h *Heap[B]) error {
	entries := 0
	for _, heap := range [][]int32{h.waiting, h.due} {
		if err := inOrder(heap, byFirst[B]{h}); err != nil {
			return err
		}
		for pos, l := range heap {
			ln := h.queues.at(l)
			entries += len(ln.items)
			if found, ok := h.findQueue(ln.node); !ok || found != l || int(ln.pos) != pos {
				return fmt.Errorf("node queue %d of %q at %d is found as %d, %v, at %d", l, ln.node, pos, found, ok, ln.pos)
			}
			if err := inOrder(ln.items, byDeadline[B]{h}); err != nil {
				return err
			}
		}
	}
	if queues := len(h.waiting) + len(h.due); entries != h.Len() || queues != h.byNode.used {
		return fmt.Errorf("%d of %d entries in %d of %d node queues", entries, h.Len(), queues, h.byNode.used)
	}
	return nil
}

func inOrder[T comparable, O order[T]](heap []T, o O) error {
	var zero T
	for _, t := range heap[len(heap):cap(heap)] {
		if t != zero {
			return fmt.Errorf("what was taken out is still there: %v", t)
		}
	}
	for i := 1; i < len(heap); i++ {
		if o.before(heap[i], heap[(i-1)/arity]) {
			return fmt.Errorf("element %d goes before its parent", i)
		}
	}
	if cap(heap) > 32 && cap(heap) > 5*len(heap) {
		return fmt.Errorf("capacity %d for %d", cap(heap), len(heap))
	}
	return nil
}

// checkRoundRobin: the node queues in the round robin are those in due, linked both ways, and each has something due.
func checkRoundRobin[B comparable](h *Heap[B]) error {
	inTurn := 0
	for _, ring := range []int32{newcomers, regulars} {
		prev := ring
		for _, l := range ringOf(h, ring) {
			inTurn++
			ln := h.queues.at(l)
			if h.due[ln.pos] != l || ln.prev != prev || ln.items[0].at.After(h.now) {
				return fmt.Errorf("node queue %d in the round robin after %d: %+v", l, prev, *ln)
			}
			prev = l
		}
	}
	if inTurn != len(h.due) {
		return fmt.Errorf("%d node queues in the round robin, %d in due", inTurn, len(h.due))
	}
	if h.stayed >= stay || h.stayed > 0 && h.front(regulars) == regulars {
		return fmt.Errorf("the first regular has stayed for %d", h.stayed)
	}
	for _, l := range h.waiting {
		if h.queues.at(l).next != outside {
			return fmt.Errorf("node queue %d waits and is in the round robin", l)
		}
	}
	return nil
}

func ringOf[B comparable](h *Heap[B], ring int32) []int32 {
	var queues []int32
	for l := h.front(ring); l != ring && len(queues) <= int(h.queues.n); l = h.queues.at(l).next {
		queues = append(queues, l)
	}
	return queues
}

// checkFreed: what is freed holds on to nothing, and there is not much of it.
func checkFreed[B comparable](h *Heap[B]) error {
	for i := h.stored.n; int(i) < len(h.stored.chunks)*chunkLen; i++ {
		if *h.stored.at(i) != (stored[B]{}) {
			return fmt.Errorf("freed slot %d holds %+v", i, *h.stored.at(i))
		}
	}
	free := 0
	for l := h.free; l != 0; l = h.queues.at(l).next {
		free++
		if ln := h.queues.at(l); ln.node != "" || ln.items != nil {
			return fmt.Errorf("freed node queue %d holds %+v", l, *ln)
		}
	}
	if used := len(h.waiting) + len(h.due); h.queues.n > 0 && free+used+int(rings) != int(h.queues.n) {
		return fmt.Errorf("%d node queues free and %d used of %d", free, used, h.queues.n)
	}
	if len(h.stored.chunks) > h.Len()/chunkLen+2 || len(h.byUID.cells) > 4*h.Len()+fewestCells {
		return fmt.Errorf("%d chunks and %d cells for %d entries", len(h.stored.chunks), len(h.byUID.cells), h.Len())
	}
	return nil
}
