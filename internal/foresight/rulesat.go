package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Trip is a breaker that is tripped for a group of nodes.
type Trip struct {
	Breaker string    `json:"breaker"`
	Group   string    `json:"group,omitempty"` // the value of the breaker's topologyKey; empty for the whole cluster
	Since   time.Time `json:"since"`           // when it tripped

	// Recorded reports whether the journal, or the manager asked by --server, has the trip. If not, it is derived from
	// the nodes' taints.
	Recorded bool `json:"recorded"`

	// Reset is Automatic or Manual; empty if the configuration has no breaker of this name and topologyKey.
	Reset string `json:"reset,omitempty"`

	// ResetsBy is when the trip ends at the latest, and the pods that it holds go, if no node changes; omitted if it
	// does not end then, and with --server.
	ResetsBy *time.Time `json:"resetsBy,omitempty"`
}

// String says that the breaker is tripped for the group, and what ends the trip, if that is known.
func (t Trip) String() string {
	tripped := "breaker " + breaker.TripRecord{Breaker: t.Breaker, Group: t.Group, Began: t.Since}.Words()
	switch {
	case t.ResetsBy != nil:
		return tripped + resetsBy(*t.ResetsBy) + "; the pods that it holds go then"
	case t.Reset == string(policy.Manual):
		return tripped + ", until resetBefore is set"
	case t.Reset == string(policy.Automatic):
		return tripped + ", and resets once few enough nodes have been affected for resetAfter"
	}
	return tripped
}

// rulesAt judges the pods of a model by a ruleset, with the taints and the facts of one moment.
type rulesAt struct {
	policy.Judge
	ruleset *Ruleset
	nodes   map[string]*nodeEstimate
	trips   []Trip
	resets  []string // notes about trips that end before that moment
	idle    []string // notes about breakers that can't trip
}

// rulesAt returns the rules that judge the pods of the model at this time, at which some nodes get other taints. The
// facts are those of a manager that has this ruleset and continues the term of the leader that wrote the journal.
func (m *Model) rulesAt(by *Ruleset, at time.Time, changed map[string][]v1.Taint) rulesAt {
	from, present := m.readBefore(at), changed
	ahead := from.Before(at)
	if ahead {
		present = nil
	}
	core := breaker.NewCore(from, breaker.Config{Config: by.config, Set: by.set, Paused: by.paused})
	core.Step(from, breaker.NamespacesChanged{Namespaces: func(name string) (map[string]string, bool) {
		labels, ok := m.namespaces[name]
		return labels, ok
	}})
	if by.Guarded() {
		core.Step(from, breaker.NodesChanged{Changes: m.nodeChanges(present)})
	}
	journaled := m.reading.Journal.journaled(from)
	if journaled.Known {
		core.Foresee(from, journaled)
	} else { // the ends of holds are unknown here, although the present leader may know them
		core.Step(from, breaker.Ready{})
	}
	var resets []string
	if by.Guarded() && ahead {
		for _, r := range resetsUntil(at, core) {
			resets = append(resets, "breaker "+r.Words()+resetsBy(r.at))
		}
		core.Step(at, breaker.NodesChanged{Changes: m.nodeChanges(changed)})
	}
	r := rulesAt{core.Foreseen(), by, m.estimates(by, at, changed), nil, resets, core.Idle()}
	r.trips = by.trips(core, at, journaled.Record.Trips)
	return r
}

// rulesNow returns the rules that judge the pods of the model at this time.
func (m *Model) rulesNow(at time.Time) rulesAt { return m.rulesAt(&m.rules, at, nil) }

// estimates returns the estimates of the nodes, some of which get other taints at this time.
func (m *Model) estimates(by *Ruleset, at time.Time, changed map[string][]v1.Taint) map[string]*nodeEstimate {
	all := make(map[string]*nodeEstimate, len(m.nodes))
	for name, n := range m.nodes {
		all[name] = &n.estimate
		if by != &m.rules {
			all[name] = new(estimateOf(by, n, m.reading.Journal, m.at))
		}
		if taints, ok := changed[name]; ok {
			all[name] = new(all[name].with(by, n.withTaints(taints), at))
		}
	}
	return all
}

// readBefore returns the time at which the model was read, or the time of the question (at) if that is earlier. If the
// model's record of guards was written later, that time counts: the objects were read no earlier.
func (m *Model) readBefore(at time.Time) time.Time {
	read := m.reading.At
	if j := m.reading.Journal; j.guards != nil && j.state.Written.After(read) {
		read = j.state.Written
	}
	if m.reading.At.IsZero() || read.After(at) {
		return at
	}
	return read
}

// nodeChanges returns the nodes in the form that breakers use, some of them with other taints.
func (m *Model) nodeChanges(changed map[string][]v1.Taint) []breaker.NodeChange {
	changes := make([]breaker.NodeChange, 0, len(m.nodes))
	for name, n := range m.nodes {
		if taints, ok := changed[name]; ok {
			n = n.withTaints(taints)
		}
		changes = append(changes, breaker.NodeChange{Name: name, Node: &n.Node})
	}
	return changes
}

// resetsBy ends a sentence about a trip.
func resetsBy(at time.Time) string {
	return ", and resets by " + taint.Stamp(at) + " if no node changes"
}

// reset is the end of a trip.
type reset struct {
	breaker.TripRecord
	at time.Time
}

// resetsUntil advances core to a time (then) without changes of nodes, and returns the ends of trips meanwhile. A
// manager that led before the model was read may reset a breaker earlier.
func resetsUntil(then time.Time, core *breaker.Core) (resets []reset) {
	for next, due := core.Next(); due && !next.After(then); next, due = core.Next() {
		before := core.Trips()
		core.Step(next, breaker.TimePassed{})
		for _, t := range before {
			if !slices.ContainsFunc(core.Trips(), t.Is) {
				resets = append(resets, reset{t, next})
			}
		}
	}
	return resets
}

// trips returns the trips of core at this time, and the recorded trips whose breakers the configuration does not have.
// It advances core to the ends of the trips.
func (r *Ruleset) trips(core *breaker.Core, at time.Time, recorded []breaker.TripRecord) []Trip {
	var trips []Trip
	present, ends := core.Trips(), resetsUntil(at.AddDate(1, 0, 0), core)
	for _, t := range present {
		trip := Trip{
			Breaker: t.Breaker, Group: t.Group, Since: *utc(t.Began), Reset: r.resetOf(t),
			Recorded: slices.ContainsFunc(recorded, t.Is),
		}
		if i := slices.IndexFunc(ends, func(end reset) bool { return t.Is(end.TripRecord) }); i >= 0 {
			trip.ResetsBy = utc(ends[i].at)
		}
		trips = append(trips, trip)
	}
	for _, t := range recorded {
		if !t.Ended && r.resetOf(t) == "" {
			trips = append(trips, Trip{Breaker: t.Breaker, Group: t.Group, Since: *utc(t.Began), Recorded: true})
		}
	}
	return trips
}

// resetOf returns how the breaker of a trip is reset; "" if the configuration has no such breaker.
func (r *Ruleset) resetOf(t breaker.TripRecord) string {
	return string(r.config.Guards.ResetOf(t.Breaker, t.TopologyKey))
}
