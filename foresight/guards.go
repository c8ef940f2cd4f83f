package foresight

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// Trip is a breaker that is tripped for a group of nodes.
type Trip struct {
	Breaker string `json:"breaker"`

	// Group is the value of the breaker's topologyKey; empty if it guards the whole cluster.
	Group string `json:"group,omitempty"`

	// Since is when it tripped.
	Since time.Time `json:"since"`

	// Recorded reports whether the journal has the trip, or the manager that was asked. If not, the breaker trips by
	// the taints of the nodes.
	Recorded bool `json:"recorded"`

	// Reset is Automatic or Manual; empty if the configuration has no such breaker, so that the pods it holds are not
	// known.
	Reset string `json:"reset,omitempty"`
}

// guards is the journal's record of guards and holds, with its writing; nil if it is not known.
type guards struct {
	record  *guard.Record
	writing journal.Writing
}

// at returns the record as a manager adopts it at this time.
func (g *guards) at(now time.Time) guard.Journaled {
	if g.record == nil {
		return guard.Journaled{}
	}
	return guard.Journaled{Record: g.writing.Guards(*g.record, now, 0), Known: true}
}

// stale returns the earlier one of a time and that of the record's writing, if the record has something, and the
// journal seems to be no longer written.
func (g *guards) stale(written, at time.Time) time.Time {
	empty := g.record == nil || len(g.record.Trips) == 0 &&
		!slices.ContainsFunc(g.record.Holds, func(h policy.HoldRecord) bool { return h.Holds })
	if empty || isWritten(g.writing, at) || !written.IsZero() && written.Before(g.writing.At) {
		return written
	}
	return g.writing.At
}

// pauseRecorded reports whether the manager that has written the journal was paused.
func (m *Model) pauseRecorded() bool {
	return m.guards.record != nil && slices.ContainsFunc(m.guards.record.Holds,
		func(h policy.HoldRecord) bool { return h.Holds && h.By == policy.ByPause })
}

// tripsOf returns the present trips, and those recorded ones whose breakers the configuration does not have.
func tripsOf(b *Ruleset, present, recorded []guard.TripRecord) []Trip {
	var trips []Trip
	for _, t := range present {
		trips = append(trips, Trip{
			t.Breaker, t.Group, *utc(t.Began), slices.ContainsFunc(recorded, sameTrip(t)),
			string(b.resetOf(t)),
		})
	}
	for _, t := range recorded {
		if !t.Ended && b.resetOf(t) == "" {
			trips = append(trips, Trip{Breaker: t.Breaker, Group: t.Group, Since: *utc(t.Began), Recorded: true})
		}
	}
	return trips
}

func sameTrip(a guard.TripRecord) func(guard.TripRecord) bool {
	return func(b guard.TripRecord) bool {
		return a.Breaker == b.Breaker && a.TopologyKey == b.TopologyKey && a.Group == b.Group && a.Began.Equal(b.Began)
	}
}

// heldKnown reports whether it is known which pods a trip holds: the configuration has its breaker, and if the nodes
// come from the journal, which has no labels, the breaker does not use them.
func (m *Model) heldKnown(t Trip) bool {
	return t.Reset != "" && (!m.byRecords || !m.rules.usesLabels(t.Breaker))
}

// resetOf returns how the breaker of a trip is reset; "" if the configuration has no such breaker.
func (r *Ruleset) resetOf(t guard.TripRecord) policy.Reset {
	return r.config.Guards.ResetOf(t.Breaker, t.TopologyKey)
}
