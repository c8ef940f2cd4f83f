package taintmanager

import (
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
)

// Trip says that a breaker is tripped for a group of nodes.
type Trip struct {
	Breaker     string    // its name
	TopologyKey string    // the label that groups nodes; empty if all nodes are one group
	Group       string    // the value of the label, [policy.NoGroup] for nodes without it, or empty
	Began       time.Time // when the breaker tripped
}

// String returns the trip for a sentence after the word breaker, such as "zones is tripped for eu-1a since
// 2026-11-01T12:00:00Z".
func (t Trip) String() string {
	return breaker.TripRecord{Breaker: t.Breaker, Group: t.Group, Began: t.Began}.Words()
}

// Trips returns the groups of nodes whose breakers are tripped now.
func (m *Manager) Trips() (all []Trip) {
	for _, t := range m.tracker.Trips() {
		all = append(all, Trip{t.Breaker, t.TopologyKey, t.Group, t.Began})
	}
	return all
}
