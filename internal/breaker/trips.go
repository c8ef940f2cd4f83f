package breaker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// TripRecord is a trip in the record, which survives restarts and changes of leader.
type TripRecord struct {
	Breaker     string `json:"breaker"`
	TopologyKey string `json:"topologyKey,omitempty"`
	Group       string `json:"group,omitempty"`

	// Began is when the breaker tripped.
	Began time.Time `json:"began"`

	// Ended means that the trip was reset by hand while too many nodes were affected: the breaker does not trip again
	// before fewer nodes are affected.
	Ended bool `json:"ended,omitempty"`
}

// sameGroup reports whether the other trip is of the same breaker, in the same group.
func (t TripRecord) sameGroup(other TripRecord) bool {
	return t.Breaker == other.Breaker && t.TopologyKey == other.TopologyKey && t.Group == other.Group
}

// Is reports whether the other trip is the same one, in force or not.
func (t TripRecord) Is(other TripRecord) bool {
	return t.sameGroup(other) && t.Began.Equal(other.Began)
}

// Words returns the trip for a sentence after the word breaker, such as "zones is tripped for eu-1a since
// 2026-11-01T12:00:00Z".
func (t TripRecord) Words() string {
	return fmt.Sprintf("%s is tripped for %s since %s", t.Breaker, GroupWords(t.Group), taint.Stamp(t.Began))
}

// GroupWords returns the group as sentences name it.
func GroupWords(group string) string {
	switch group {
	case "":
		return "the whole cluster"
	case policy.NoGroup:
		return "the nodes without the label of its topologyKey"
	}
	return group
}

// inForceOnlyIn returns the trips that are in force, but not among the others.
func inForceOnlyIn(trips, others []TripRecord) (only []TripRecord) {
	for _, t := range trips {
		same := func(other TripRecord) bool { return !other.Ended && other.Is(t) }
		if !t.Ended && !slices.ContainsFunc(others, same) {
			only = append(only, t)
		}
	}
	return only
}

// Trips returns the trips to record, in the order of the breakers, sorted by group.
func (b *Breakers) Trips() (all []TripRecord) {
	for _, breaker := range b.list {
		first := len(all)
		for _, g := range breaker.groups {
			if g.trip != nil {
				all = append(all, *g.trip)
			}
		}
		slices.SortFunc(all[first:], func(x, y TripRecord) int { return cmp.Compare(x.Group, y.Group) })
	}
	return all
}

// Adopt adopts the trips of a record. If the nodes of a trip have recovered, only the record tells whether it lasts:
//   - A recorded trip is adopted, even if few enough nodes are affected: with Manual it may last for long.
//   - A trip that the record lacks is this process's own. It stays: the leader may have ended before recording it.
//   - If any node is known, a trip of a group without nodes is not adopted: it holds nothing.
//   - A trip of a breaker that is missing, or that has other groups now, is ignored.
//
// If the record and this process have the same trip, the earlier begin counts. If this process found the nodes affected
// when it started, only the record knows whether the trip was reset by hand. All nodes must be known. The next step
// evaluates the breakers; the time with few enough affected nodes counts from then on.
func (b *Breakers) Adopt(recorded []TripRecord) {
	for _, br := range b.list {
		for _, t := range recorded {
			if !br.owns(t) || len(b.nodes) > 0 && (br.groups[t.Group] == nil || br.groups[t.Group].nodes == 0) {
				continue
			}
			g := br.group(t.Group)
			found := g.trip != nil && !g.trip.Began.After(b.synced)
			if g.trip == nil || t.Began.Before(g.trip.Began) && (found || g.trip.Ended == t.Ended) {
				g.trip = &t
			}
		}
	}
}

// owns reports whether the trip is one of this breaker, which may have had other groups before.
func (b *breaker) owns(t TripRecord) bool {
	return t.Breaker == b.Name && t.TopologyKey == b.TopologyKey
}
