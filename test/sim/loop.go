package sim

import (
	"time"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

// event is a function to run at a moment. Events of one moment run in the order in which they were scheduled.
type event struct {
	at  time.Duration
	seq int
	do  func()
	pos int // in the queue
}

// loop runs events one after the other, in simulated time.
type loop struct {
	time   time.Duration
	seq    int
	events ordered.Queue[*event]
}

func newLoop() loop {
	return loop{events: ordered.New(func(a, b *event) bool {
		return a.at < b.at || a.at == b.at && a.seq < b.seq
	}, func(e *event) *int { return &e.pos })}
}

// now returns the true time.
func (l *loop) now() time.Duration { return l.time }

// at schedules a function for a moment, or for now if that has passed.
func (l *loop) at(moment time.Duration, do func()) {
	l.seq++
	l.events.Set(&event{at: max(moment, l.time), seq: l.seq, do: do})
}

// after schedules a function for later.
func (l *loop) after(d time.Duration, do func()) { l.at(l.time+d, do) }

// step runs the next event up to a moment. It returns false if there is none.
func (l *loop) step(until time.Duration) bool {
	next, ok := l.events.First()
	if !ok || next.at > until {
		return false
	}
	l.events.Remove(next)
	l.time = next.at
	next.do()
	return true
}
