package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/internal/journal"
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

// reset is the end of a trip between the reading of the model and the time of the question, provided that no node
// changes meanwhile. A manager that has led before the reading may reset the breaker earlier.
type reset struct {
	Trip
	at time.Time
}

// guards has the journal's record of guards and holds, and the writing of the record. The record is nil if it is not
// known.
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

// hasHold reports whether the record has a hold of this kind.
func (g *guards) hasHold(of func(policy.HoldRecord) bool) bool {
	return g.record != nil && slices.ContainsFunc(g.record.Holds, of)
}

// rulesAt judges pods by a ruleset, with the facts of one moment.
type rulesAt struct {
	policy.Judge
	ruleset *Ruleset
	trips   []Trip
	resets  []reset // until that moment
}

// rulesNow returns the rules that judge the pods of the model at this time.
func (m *Model) rulesNow(at time.Time) rulesAt { return m.rulesAt(&m.rules, at, nil) }

// rulesAt returns the rules that judge the pods of the model at this time, at which some nodes get other taints. The
// facts are those of a manager with the ruleset that reads the journal, and begins to lead when the model was read.
func (m *Model) rulesAt(by *Ruleset, at time.Time, other map[string][]v1.Taint) rulesAt {
	from, present := m.readBefore(at), other
	ahead := from.Before(at)
	if ahead {
		present = nil
	}
	core := guard.NewCore(guard.Config{Config: by.config, Set: by.set, Paused: by.paused})
	core.Step(from, guard.NamespacesChanged{Namespaces: m.labelsOf})
	counting := by.Guarded() && !m.partial() // else only recorded trips count
	if counting {
		core.Step(from, guard.NodesChanged{Changes: m.nodeChanges(present)})
	}
	journaled := m.guards.at(from)
	if journaled.Known { // else the ends of holds are not known, and the present leader may know them
		core.Step(from, guard.LeadershipBegan{})
	}
	core.Step(from, guard.Ready{Journaled: journaled})
	var resets []reset
	if counting && ahead {
		resets = resetsUntil(at, core)
		core.Step(at, guard.NodesChanged{Changes: m.nodeChanges(other)})
	}
	judge := core.Judge()
	if m.Hidden() {
		judge = by.withoutLabels(judge)
	}
	return rulesAt{judge, by, by.trips(core.Trips(), journaled.Record.Trips), resets}
}

// readBefore returns when the model was read, or the time of the question if the model was read later. The objects are
// not older than the record of guards that was read with the objects.
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

// labelsOf returns the labels of a namespace, if they are known.
func (m *Model) labelsOf(namespace string) (map[string]string, bool) {
	set, ok := m.namespaces[namespace]
	return set, ok
}

// nodeChanges returns the nodes in the form that breakers use, some of them with other taints.
func (m *Model) nodeChanges(other map[string][]v1.Taint) []guard.NodeChange {
	changes := make([]guard.NodeChange, 0, len(m.nodes))
	for name, n := range m.nodes {
		taints, changed := other[name]
		if !changed {
			taints = n.object.Spec.Taints
		}
		changes = append(changes, guard.NodeChange{Name: name, Node: &guard.Node{
			Name: name, UID: n.object.UID, Labels: n.object.Labels, Taints: taints,
		}})
	}
	return changes
}

// resetsUntil lets the time pass until then, while nothing else happens. It returns the trips that end meanwhile.
func resetsUntil(then time.Time, core *guard.Core) []reset {
	var resets []reset
	for next, due := core.Next(); due && !next.After(then); next, due = core.Next() {
		before := core.Trips()
		core.Step(next, guard.TimePassed{})
		for _, t := range before {
			if !slices.ContainsFunc(core.Trips(), sameTrip(t)) {
				trip := Trip{Breaker: t.Breaker, Group: t.Group, Since: *utc(t.Began)}
				resets = append(resets, reset{trip, *utc(next)})
			}
		}
	}
	return resets
}

// trips returns the present trips, and those recorded ones whose breakers the configuration does not have.
func (r *Ruleset) trips(present, recorded []guard.TripRecord) []Trip {
	var trips []Trip
	for _, t := range present {
		trips = append(trips, Trip{
			t.Breaker, t.Group, *utc(t.Began), slices.ContainsFunc(recorded, sameTrip(t)), r.resetOf(t),
		})
	}
	for _, t := range recorded {
		if !t.Ended && r.resetOf(t) == "" {
			trips = append(trips, Trip{Breaker: t.Breaker, Group: t.Group, Since: *utc(t.Began), Recorded: true})
		}
	}
	return trips
}

// resetOf returns how the breaker of a trip is reset; "" if the configuration has no such breaker.
func (r *Ruleset) resetOf(t guard.TripRecord) string {
	return string(r.config.Guards.ResetOf(t.Breaker, t.TopologyKey))
}

func sameTrip(a guard.TripRecord) func(guard.TripRecord) bool {
	return func(b guard.TripRecord) bool {
		return a.Breaker == b.Breaker && a.TopologyKey == b.TopologyKey && a.Group == b.Group && a.Began.Equal(b.Began)
	}
}
