// Package ordered has a priority queue whose elements can be moved and removed at any time. Each element keeps its
// position in an int, which is 0 outside the queue; a function that is passed to [New] returns the pointer to it. Only
// the queue may write the int, and two queues must not share it. The package is pure, and not safe for concurrent use.
package ordered

import (
	"container/heap"
	"slices"
)

// Queue is a priority queue whose elements keep their own positions, so that any of them can be moved and removed. With
// n elements, Set and Remove take O(log n). It is not safe for concurrent use.
type Queue[T any] struct{ elements elements[T] }

// New returns an empty queue. The function before is a strict total order: First returns the element before all others.
// If the order of an element changes, the next call must be Set for that element. The function at returns where an
// element keeps its position in this queue; 0 means that the element is not in the queue.
func New[T any](before func(a, b T) bool, at func(T) *int) Queue[T] {
	return Queue[T]{elements[T]{before: before, at: at}}
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int { return len(q.elements.list) }

// First returns the first element; false if the queue is empty.
func (q *Queue[T]) First() (first T, ok bool) {
	if q.Len() == 0 {
		return first, false
	}
	return q.elements.list[0], true
}

// FirstOf returns the first element that match accepts; false if there is none. If match rejects k elements, it is
// asked about at most 2k+1, and always about the first.
func (q *Queue[T]) FirstOf(match func(T) bool) (first T, ok bool) {
	i := q.elements.firstOf(0, match)
	if i < 0 {
		return first, false
	}
	return q.elements.list[i], true
}

// Set adds the element, or moves it to its position if its order has changed.
func (q *Queue[T]) Set(t T) {
	if at := *q.elements.at(t); at > 0 {
		heap.Fix(&q.elements, at-1)
		return
	}
	heap.Push(&q.elements, t)
}

// Include calls Set if the argument in is true, and otherwise Remove.
func (q *Queue[T]) Include(t T, in bool) {
	if in {
		q.Set(t)
	} else {
		q.Remove(t)
	}
}

// Remove removes the element, and reports whether it was in the queue.
func (q *Queue[T]) Remove(t T) bool {
	at := *q.elements.at(t)
	if at > 0 {
		heap.Remove(&q.elements, at-1)
	}
	return at > 0
}

// All returns the elements, in no order.
func (q *Queue[T]) All() []T { return slices.Clone(q.elements.list) }

// elements implements heap.Interface. An element keeps its index plus one.
type elements[T any] struct {
	list   []T
	before func(a, b T) bool
	at     func(T) *int
}

// firstOf is FirstOf for the element at i and those below it in the heap. It returns an index, or -1 if there is none.
func (e *elements[T]) firstOf(i int, match func(T) bool) int {
	if i >= len(e.list) {
		return -1
	}
	if match(e.list[i]) {
		return i
	}
	left, right := e.firstOf(2*i+1, match), e.firstOf(2*i+2, match)
	if left < 0 || right >= 0 && e.Less(right, left) {
		return right
	}
	return left
}

func (e *elements[T]) Len() int           { return len(e.list) }
func (e *elements[T]) Less(i, j int) bool { return e.before(e.list[i], e.list[j]) }

func (e *elements[T]) Swap(i, j int) {
	e.list[i], e.list[j] = e.list[j], e.list[i]
	*e.at(e.list[i]), *e.at(e.list[j]) = i+1, j+1
}

// Push implements heap.Interface.
func (e *elements[T]) Push(x any) {
	t := x.(T)
	e.list = append(e.list, t)
	*e.at(t) = len(e.list)
}

// Pop implements heap.Interface. An array that is mostly empty is released.
func (e *elements[T]) Pop() any {
	last := len(e.list) - 1
	t := e.list[last]
	*e.at(t) = 0
	clear(e.list[last:])
	e.list = e.list[:last]
	if cap(e.list) > 64 && last < cap(e.list)/4 {
		e.list = append(make([]T, 0, 2*last), e.list...)
	}
	return t
}
