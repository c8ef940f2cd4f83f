package dispatch

import "time"

// SlowAfter is how long a call holds a slot at most. Then it is slow, and takes a slow place.
const SlowAfter = time.Second

// remembered is how long a call predicts the calls after it: longer than any backoff, so that a pod that is tried once
// a minute does not take a slot each time.
const remembered = 2 * time.Minute

// recovered is how many quick calls in a row, after the last slow one, show that admission is quick again. Without
// them a pause of the API server, of little more than a second, would slow a namespace for the time remembered.
const recovered = 16

// speed says how admission treats the calls of a namespace or of a workload.
type speed uint8

const (
	unknown speed = iota
	quick
	slow
)

// memory is what the calls of a namespace or of a workload have shown. The zero value is unknown.
type memory struct {
	slowCalls             int // under way
	quickCalls            int // since the last slow call ended
	slowUntil, quickUntil time.Time
}

func (m *memory) speed(now time.Time) speed {
	switch {
	case m.slowCalls > 0 || now.Before(m.slowUntil):
		return slow
	case now.Before(m.quickUntil):
		return quick
	}
	return unknown
}

// changes returns when the speed next changes by time alone; zero if it does not.
func (m *memory) changes(now time.Time) time.Time {
	switch {
	case m.slowCalls > 0:
		return time.Time{}
	case now.Before(m.slowUntil):
		return m.slowUntil
	case now.Before(m.quickUntil):
		return m.quickUntil
	}
	return time.Time{}
}

// turnSlow records that a call under way is slow.
func (m *memory) turnSlow() { m.slowCalls++ }

// slowEnded records the end of a slow call.
func (m *memory) slowEnded(now time.Time) {
	m.slowCalls--
	m.quickCalls = 0
	m.slowUntil = now.Add(remembered)
}

// answered records a call that admission has answered within SlowAfter.
func (m *memory) answered(now time.Time) {
	m.quickCalls++
	if m.quickCalls >= recovered {
		m.slowUntil = now
	}
	m.quickUntil = now.Add(remembered)
}
