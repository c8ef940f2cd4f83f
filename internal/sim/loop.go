package sim

import "time"

// event is a function to run at a moment. Events of one moment run in the order in which they were scheduled.
type event struct {
	at  time.Duration
	seq int
	do  func()
}

func (e *event) before(other *event) bool {
	return e.at < other.at || e.at == other.at && e.seq < other.seq
}

// loop runs events one after the other, in simulated time. The zero loop is empty.
type loop struct {
	time   time.Duration
	seq    int
	events []event // a heap
}

// now returns the true time.
func (l *loop) now() time.Duration { return l.time }

// at schedules a function for a moment, or for now if that has passed.
func (l *loop) at(moment time.Duration, do func()) {
	l.seq++
	l.events = append(l.events, event{max(moment, l.time), l.seq, do})
	for i := len(l.events) - 1; i > 0; {
		parent := (i - 1) / 2
		if !l.events[i].before(&l.events[parent]) {
			return
		}
		l.events[i], l.events[parent] = l.events[parent], l.events[i]
		i = parent
	}
}

// after schedules a function for later.
func (l *loop) after(d time.Duration, do func()) { l.at(l.time+d, do) }

// step runs the next event up to a moment. It returns false if there is none.
func (l *loop) step(until time.Duration) bool {
	if len(l.events) == 0 || l.events[0].at > until {
		return false
	}
	next := l.events[0]
	last := len(l.events) - 1
	l.events[0] = l.events[last]
	l.events[last] = event{}
	l.events = l.events[:last]
	l.sink()
	l.time = next.at
	next.do()
	return true
}

// sink moves the first event of the heap to its place.
func (l *loop) sink() {
	for i := 0; ; {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(l.events); child++ {
			if l.events[child].before(&l.events[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		l.events[i], l.events[first] = l.events[first], l.events[i]
		i = first
	}
}
