package guard

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/policy"
)

// Node contains the fields of a node that breakers use.
type Node struct {
	Name   string
	UID    types.UID
	Labels map[string]string
	Taints []v1.Taint // with any effect
}

// NodeChange is the present state of a node, or its removal.
type NodeChange struct {
	Name string
	Node *Node // nil: the node was deleted
}

// Event reports that a breaker has tripped or was reset for a group.
type Event struct {
	Trip    policy.Trip
	Tripped bool // false: it was reset
	At      time.Time

	// Affected is the number of affected nodes of the group, and Nodes the number of all. Both include deleted nodes
	// that still count.
	Affected, Nodes int

	// Names are the names of at most ten of the affected nodes that exist.
	Names []string
}

// Breakers count the affected nodes of each group, and know which groups are tripped.
type Breakers struct {
	synced bool // all nodes are known; no breaker trips before
	nodes  map[string]*Node
	list   []*breaker
}

// NewBreakers returns the breakers of a process that does not know any nodes yet.
func NewBreakers(list []policy.Breaker) *Breakers {
	b := &Breakers{nodes: map[string]*Node{}}
	for i := range list {
		b.list = append(b.list, newBreaker(&list[i]))
	}
	return b
}

// Step applies the changes of nodes at that time as one change: their order does not matter. Changes that are seen
// together, such as a list after a watch has broken off, belong in one step; otherwise removals would count before
// additions. Step returns the resets and the trips, each in the order of the breakers, sorted by group.
func (b *Breakers) Step(now time.Time, changes ...NodeChange) (events []Event) {
	before := b.Trips()
	for _, breaker := range b.list {
		breaker.advance(now, b.synced)
	}
	for _, c := range changes {
		b.apply(now, c)
	}
	for _, breaker := range b.list {
		for _, g := range breaker.groups {
			breaker.evaluate(g, now, b.synced)
		}
	}
	after := b.Trips()
	events = append(b.events(before, after, false, now), b.events(after, before, true, now)...)
	for _, breaker := range b.list {
		maps.DeleteFunc(breaker.groups, func(_ string, g *group) bool { return g.empty() && g.trip == nil })
	}
	return events
}

// events returns an event for each trip in force that the other trips lack.
func (b *Breakers) events(trips, others []TripRecord, tripped bool, at time.Time) (events []Event) {
	for _, t := range trips {
		same := func(other TripRecord) bool { return !other.Ended && other.sameGroup(t) && other.Began.Equal(t.Began) }
		if !t.Ended && !slices.ContainsFunc(others, same) {
			events = append(events, b.event(t, tripped, at))
		}
	}
	return events
}

// event returns the event that a breaker has tripped at this time, or was reset.
func (b *Breakers) event(t TripRecord, tripped bool, at time.Time) Event {
	e := Event{Trip: policy.Trip{Breaker: t.Breaker, Group: t.Group}, Tripped: tripped, At: at}
	of := b.list[slices.IndexFunc(b.list, func(of *breaker) bool { return of.Name == t.Breaker })]
	e.Affected, e.Nodes = of.group(t.Group).share()
	if !tripped {
		return e
	}
	for name, n := range b.nodes {
		if of.counts(n) && of.affects(n) && policy.GroupOf(of.TopologyKey, n.Labels) == t.Group {
			e.Names = append(e.Names, name)
		}
	}
	slices.Sort(e.Names)
	e.Names = e.Names[:min(10, len(e.Names))]
	return e
}

func (b *Breakers) apply(now time.Time, c NodeChange) {
	for _, breaker := range b.list {
		breaker.apply(now, b.nodes[c.Name], c.Node)
	}
	if c.Node == nil {
		delete(b.nodes, c.Name)
		return
	}
	b.nodes[c.Name] = c.Node
}

// Missing returns the removals of the nodes that are not among these changes.
func (b *Breakers) Missing(all []NodeChange) (removals []NodeChange) {
	missing := maps.Clone(b.nodes)
	for i := range all {
		delete(missing, all[i].Name)
	}
	for name := range missing {
		removals = append(removals, NodeChange{Name: name})
	}
	return removals
}

// Next returns when a step is due even if nothing changes. It returns false if no step is due.
func (b *Breakers) Next() (next time.Time, ok bool) {
	for _, breaker := range b.list {
		for _, g := range breaker.groups {
			if at, due := breaker.next(g); due && (!ok || at.Before(next)) {
				next, ok = at, true
			}
		}
	}
	return next, ok
}

// Tripped returns the groups that are tripped.
func (b *Breakers) Tripped() map[policy.Trip]bool {
	all := map[policy.Trip]bool{}
	for _, t := range b.Trips() {
		if !t.Ended {
			all[policy.Trip{Breaker: t.Breaker, Group: t.Group}] = true
		}
	}
	return all
}

// Replace replaces the breakers. A breaker that keeps its name and its topologyKey keeps its trips. If it keeps its
// taints and its nodeSelector, too, it keeps its groups; otherwise it counts the present nodes anew, and deleted nodes
// no longer.
func (b *Breakers) Replace(now time.Time, list []policy.Breaker) []Event {
	trips, old := b.Trips(), b.list
	b.list = nil
	for i := range list {
		breaker := newBreaker(&list[i])
		if j := slices.IndexFunc(old, breaker.same); j >= 0 {
			breaker.groups = old[j].groups
		} else {
			breaker.countAll(now, b.nodes)
		}
		b.list = append(b.list, breaker)
	}
	b.restore(trips, true)
	return b.Step(now)
}
