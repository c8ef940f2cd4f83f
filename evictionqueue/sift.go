package evictionqueue

// A heap here is a slice in which no element goes before its parent: the element at i has its
// children from arity*i+1 to arity*i+arity. Four children share two cache lines, which at a million
// elements is what counts.
const arity = 4

// order compares two elements, and is notified of each one's new position.
type order[T any] interface {
	before(a, b T) bool
	moved(t T, i int32)
}

// insert adds t to the heap.
func insert[T any, O order[T]](heap []T, t T, o O) []T {
	heap = append(heap, t)
	fix(heap, int32(len(heap)-1), o)
	return heap
}

// without removes the element at i.
func without[T any, O order[T]](heap []T, i int32, o O) []T {
	last := int32(len(heap) - 1)
	t := heap[last]
	clear(heap[last:])
	heap = heap[:last]
	if i < last {
		heap[i] = t
		fix(heap, i, o)
	}
	return shrunk(heap)
}

// fix moves the element at i to its position; all others are in order.
func fix[T any, O order[T]](heap []T, i int32, o O) {
	t := heap[i]
	to := rise(heap, i, t, o)
	if to == i {
		to = sink(heap, i, t, o)
	}
	heap[to] = t
	o.moved(t, to)
}

// rise moves those above i down that t goes before, and returns the place that is left for t.
func rise[T any, O order[T]](heap []T, i int32, t T, o O) int32 {
	for i > 0 {
		parent := (i - 1) / arity
		if !o.before(t, heap[parent]) {
			break
		}
		heap[i] = heap[parent]
		o.moved(heap[i], i)
		i = parent
	}
	return i
}

// sink moves those below i up that go before t, and returns the place that is left for t.
func sink[T any, O order[T]](heap []T, i int32, t T, o O) int32 {
	for arity*int(i)+1 < len(heap) {
		child := firstChild(heap, i, o)
		if !o.before(heap[child], t) {
			break
		}
		heap[i] = heap[child]
		o.moved(heap[i], i)
		i = child
	}
	return i
}

// firstChild is the one of i's children that goes before the others. There is one at least.
func firstChild[T any, O order[T]](heap []T, i int32, o O) int32 {
	best := arity*i + 1
	end := min(best+arity, int32(len(heap)))
	for c := best + 1; c < end; c++ {
		if o.before(heap[c], heap[best]) {
			best = c
		}
	}
	return best
}

// shrunk releases memory that the slice holds far beyond its length.
func shrunk[T any](s []T) []T {
	if cap(s) <= 32 || len(s) > cap(s)/4 {
		return s
	}
	return append(make([]T, 0, 2*len(s)), s...)
}
