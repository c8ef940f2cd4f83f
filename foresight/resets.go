package foresight

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
)

// reset is the end of a trip between the reading of the model and the time of the question, if no node changes until
// then. A manager that has led before the reading may reset the breaker earlier.
type reset struct {
	Trip
	at time.Time
}

// readBefore returns when the model was read, or the time of the question if that is not later. The objects are not
// older than the journal's record that was read with them.
func (m *Model) readBefore(at time.Time) time.Time {
	read := m.reading.At
	if m.guards.record != nil && m.guards.writing.At.After(read) {
		read = m.guards.writing.At
	}
	if m.reading.At.IsZero() || read.After(at) {
		return at
	}
	return read
}

// resets returns the trips that end between the reading of the model and this time.
func (m *Model) resets(at time.Time) []reset {
	if !m.readBefore(at).Before(at) {
		return nil
	}
	return m.now(at).resets
}

// resetUnknown reports whether the trip may end between the reading of the model and this time, which is not known
// from some of the nodes.
func (m *Model) resetUnknown(t Trip, at time.Time) bool {
	return t.Reset == string(policy.Automatic) && m.partial() && m.readBefore(at).Before(at)
}

// pass lets the time pass until then, while nothing else happens. It returns the trips that end meanwhile.
func pass(core *guard.Core, until time.Time) []reset {
	var resets []reset
	for next, due := core.Next(); due && !next.After(until); next, due = core.Next() {
		before := core.Trips()
		core.Step(next, guard.TimePassed{})
		for _, t := range before {
			if !slices.ContainsFunc(core.Trips(), sameTrip(t)) {
				resets = append(resets, reset{
					Trip{Breaker: t.Breaker, Group: t.Group, Since: *utc(t.Began)},
					*utc(next),
				})
			}
		}
	}
	return resets
}
