package guard

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// TripRecord is a trip as it is recorded, so that it outlives restarts and changes of leader.
type TripRecord struct {
	Breaker     string `json:"breaker"`
	TopologyKey string `json:"topologyKey,omitempty"`
	Group       string `json:"group,omitempty"`

	// Began is when the breaker tripped.
	Began time.Time `json:"began"`

	// Ended means that the trip was reset by hand while too many nodes are affected: the breaker does not trip again
	// before there are fewer.
	Ended bool `json:"ended,omitempty"`
}

// sameGroup reports whether the other trip is of the same breaker, in the same group.
func (t TripRecord) sameGroup(other TripRecord) bool {
	return t.Breaker == other.Breaker && t.TopologyKey == other.TopologyKey && t.Group == other.Group
}

// Words returns the trip as it follows the word breaker in a sentence, such as "zones is tripped for eu-1a since
// 2026-11-01T12:00:00Z".
func (t TripRecord) Words() string {
	return fmt.Sprintf("%s is tripped for %s since %s", t.Breaker, GroupWords(t.Group), taint.Stamp(t.Began))
}

// GroupWords returns the group as sentences name it.
func GroupWords(group string) string {
	if group == "" {
		return "the whole cluster"
	}
	return group
}

// Trips returns the trips to record, sorted by group.
func (b *Breakers) Trips() []TripRecord {
	var all []TripRecord
	for _, one := range b.list {
		for _, name := range slices.Sorted(maps.Keys(one.groups)) {
			if t := one.groups[name].trip; t.state != closed {
				all = append(all, TripRecord{one.Name, one.TopologyKey, name, t.began, t.state == spent})
			}
		}
	}
	return all
}

// Unrecorded returns an event for each present trip that a record does not have.
func (b *Breakers) Unrecorded(recorded []TripRecord) (events []Event) {
	for _, one := range b.list {
		for _, name := range slices.Sorted(maps.Keys(one.groups)) {
			g := one.groups[name]
			has := func(t TripRecord) bool {
				return t.Breaker == one.Name && t.TopologyKey == one.TopologyKey && t.Group == name && !t.Ended
			}
			if g.trip.state == tripped && !slices.ContainsFunc(recorded, has) {
				events = append(events, one.event(b, g, true, g.trip.began))
			}
		}
	}
	return events
}

// Adopt replaces the trips that are known from a record by those of the latest record. before are the trips of the
// record before it.
//
// The latest record is the leader's, so it decides about a trip whose nodes have recovered, which this process cannot
// tell from one that was reset, or that never was:
//   - A recorded trip is adopted, even if few enough nodes are affected: with Manual it may last for long.
//   - A trip that the record had, and no longer has, has ended, unless the nodes show it.
//   - A trip that no record has had is this process's own: it stays, as the leader may have ended before recording it.
//   - A trip of a group without nodes holds nothing, and is not adopted, if any node is known.
//   - A trip of a breaker that is missing, or that has other groups now, is ignored.
//
// Adopt does not change when a trip of this process began. Breakers are judged at the next step; a share at or below
// maxNodes counts from then on.
func (b *Breakers) Adopt(before, latest []TripRecord) {
	for _, one := range b.list {
		for _, g := range one.groups {
			of := TripRecord{Breaker: one.Name, TopologyKey: one.TopologyKey, Group: g.name}
			if slices.ContainsFunc(before, of.sameGroup) && !slices.ContainsFunc(latest, of.sameGroup) &&
				!one.exceeded(g) {
				g.trip, g.below, g.touched = trip{}, time.Time{}, true
			}
		}
	}
	b.restore(latest, !b.synced || len(b.nodes) == 0)
}

// restore puts recorded trips in force; those of groups without nodes only if they are to be kept.
func (b *Breakers) restore(trips []TripRecord, empty bool) {
	for _, t := range trips {
		for _, one := range b.list {
			if one.Name == t.Breaker && one.TopologyKey == t.TopologyKey && (empty || !one.groups[t.Group].empty()) {
				one.adopt(t)
			}
		}
	}
}

// adopt puts a recorded trip in force. A trip that a record has reset by hand is in force again if a later record has
// it, and the configuration does not reset it.
func (b *breaker) adopt(t TripRecord) {
	g := b.of(t.Group)
	wrong := g.trip.state == spent && !t.Ended && !b.endedByHand(g.trip.began)
	if g.trip.state != closed && !wrong {
		return
	}
	g.trip = trip{tripped, t.Began}
	if t.Ended {
		g.trip.state = spent
	}
}

// forgetEmpty ends the trips of groups without nodes.
func (b *breaker) forgetEmpty() {
	for _, g := range b.groups {
		if g.empty() {
			g.trip = trip{}
		}
	}
}
