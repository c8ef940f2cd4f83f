package evictionqueue

import "time"

// Queue is a [Heap] with one timer round it. It belongs to one goroutine, which may block on C.
//
// After every batch of changes, and after every receive from C, that goroutine serves what is due
// as far as it can and then calls Arm:
//
//	for {
//		select {
//		case <-q.C():
//		case change := <-changes: // Set, Cancel
//		case <-slotFree:
//		}
//		now := time.Now()
//		for slotIsFree() && q.Due(now) { // PopDue
//		}
//		q.Arm(now)
//	}
//
// What is due and can't be served does not make the timer fire again: the timer is for what is not
// due yet, and what permits more calls wakes the goroutine itself.
type Queue[B any] struct {
	Heap[B]
	timer *time.Timer
}

// New returns an empty queue whose timer does not run.
func New[B any]() *Queue[B] {
	q := &Queue[B]{timer: time.NewTimer(time.Hour)}
	q.timer.Stop()
	return q
}

// C returns the channel that receives when the time comes that the timer was last armed for. It is
// always the same. A receive does not imply that anything is due: a deadline more
// than 292 years away is beyond the timer's reach, and the wall clock may have been set since.
func (q *Queue[B]) C() <-chan time.Time { return q.timer.C }

// Arm sets the timer for the earliest deadline after now of those nodes that have nothing due now,
// and stops it when there is none. Entries that follow on a node with something due need no
// timer: they are behind it, and the node is in the round robin already. When what is due there is popped,
// cancelled or moved, the next call of Arm counts them in. A value that C holds is dropped, since
// the caller is serving already.
//
// When now is behind the clock, the timer fires early or at once rather than late.
func (q *Queue[B]) Arm(now time.Time) {
	q.Due(now)
	at, ok := q.Upcoming()
	if !ok {
		q.timer.Stop()
		return
	}
	// time.Until is clamped to what a Duration holds, and the runtime clamps the sum.
	q.timer.Reset(time.Until(at))
}

// Stop stops the timer: C does not receive until Arm is called again.
func (q *Queue[B]) Stop() { q.timer.Stop() }
