package sim

import (
	"container/heap"
	"time"
)

// event is a function to run at a moment. Events of one moment run in the order in which they were scheduled.
type event struct {
	at  time.Duration
	seq int
	do  func()
}

// events implement heap.Interface.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }

func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event{}
	*e = (*e)[:len(*e)-1]
	return last
}

// loop runs events one after the other, in simulated time. The zero loop is empty.
type loop struct {
	time   time.Duration
	seq    int
	events events
}

// now returns the true time.
func (l *loop) now() time.Duration { return l.time }

// at schedules a function for a moment, or for now if that has passed.
func (l *loop) at(moment time.Duration, do func()) {
	l.seq++
	heap.Push(&l.events, event{max(moment, l.time), l.seq, do})
}

// after schedules a function for later.
func (l *loop) after(d time.Duration, do func()) { l.at(l.time+d, do) }

// step runs the next event up to a moment. It returns false if there is none.
func (l *loop) step(until time.Duration) bool {
	if len(l.events) == 0 || l.events[0].at > until {
		return false
	}
	next := heap.Pop(&l.events).(event)
	l.time = next.at
	next.do()
	return true
}
