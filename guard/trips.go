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

// Adopt adopts recorded trips. It ignores a trip of a breaker that is missing or that has other groups now, and does
// not change a trip of this process. Breakers are judged at the next step; a share at or below maxNodes counts from
// then on.
func (b *Breakers) Adopt(trips []TripRecord) {
	for _, t := range trips {
		for _, one := range b.list {
			if one.Name == t.Breaker && one.TopologyKey == t.TopologyKey {
				one.adopt(t)
			}
		}
	}
}

func (b *breaker) adopt(t TripRecord) {
	g := b.of(t.Group)
	if g.trip.state != closed {
		return
	}
	g.trip = trip{tripped, t.Began}
	if t.Ended {
		g.trip.state = spent
	}
}
