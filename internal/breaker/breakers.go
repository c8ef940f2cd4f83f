package breaker

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

	// Affected is the number of affected nodes of the group, and Nodes the number of all its nodes. Both include
	// deleted nodes that still count.
	Affected, Nodes int

	// Names are the names of at most ten of the affected nodes that exist.
	Names []string
}

// Breakers count the affected nodes of each group, and know which groups are tripped.
type Breakers struct {
	synced time.Time // when all nodes became known; no breaker trips before
	nodes  map[string]*Node
	list   []*breaker
}

// NewBreakers returns the breakers of a process that does not know any nodes yet.
func NewBreakers(list []policy.Breaker) *Breakers {
	b := &Breakers{nodes: map[string]*Node{}}
	b.Replace(list)
	return b
}

// Replace replaces the breakers. A breaker that keeps its name and its topologyKey keeps its trips.
func (b *Breakers) Replace(list []policy.Breaker) {
	old := b.list
	b.list = nil
	for i := range list {
		next := newBreaker(list[i])
		for _, n := range b.nodes {
			next.count(n, 1)
		}
		same := func(br *breaker) bool { return br.Name == next.Name && br.TopologyKey == next.TopologyKey }
		if j := slices.IndexFunc(old, same); j >= 0 {
			next.inherit(old[j])
		}
		b.list = append(b.list, next)
	}
}

// Step applies the changes of nodes as one change at the time now: their order does not matter. Changes that are seen
// together, such as a list after a watch has broken off, belong in one step; otherwise removals would count before
// additions.
func (b *Breakers) Step(now time.Time, changes ...NodeChange) {
	for _, br := range b.list {
		br.advance(now, !b.synced.IsZero())
	}
	for _, c := range changes {
		for _, br := range b.list {
			br.apply(now, b.nodes[c.Name], c.Node)
		}
		if b.nodes[c.Name] = c.Node; c.Node == nil {
			delete(b.nodes, c.Name)
		}
	}
	for _, br := range b.list {
		br.evaluate(now, !b.synced.IsZero())
	}
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

// Next returns when a step is due even if nothing changes; zero means never.
func (b *Breakers) Next() (next time.Time) {
	for _, br := range b.list {
		if at := br.next(); next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
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

// Idle returns a message for each breaker that cannot trip given the present nodes.
func (b *Breakers) Idle() (all []string) {
	for _, br := range b.list {
		if why := br.idle(len(b.nodes)); why != "" {
			all = append(all, why)
		}
	}
	return all
}

// Events returns the resets and trips by which the earlier trips became the present trips. Resets come first. Both are
// in the order of the breakers, sorted by group.
func (b *Breakers) Events(now time.Time, before []TripRecord) (events []Event) {
	after := b.Trips()
	for _, t := range inForceOnlyIn(before, after) {
		events = append(events, b.event(t, false, now))
	}
	for _, t := range after {
		if t.Ended && !slices.ContainsFunc(before, t.Is) { // it was reset by hand as soon as it began
			events = append(events, b.event(t, true, t.Began), b.event(t, false, now))
		}
	}
	for _, t := range inForceOnlyIn(after, before) {
		events = append(events, b.event(t, true, t.Began))
	}
	return events
}

// event returns the event that a breaker has tripped or was reset at this time.
func (b *Breakers) event(t TripRecord, tripped bool, at time.Time) Event {
	e := Event{Trip: policy.Trip{Breaker: t.Breaker, Group: t.Group}, Tripped: tripped, At: at}
	br := b.list[slices.IndexFunc(b.list, func(br *breaker) bool { return br.Name == t.Breaker })]
	if g := br.groups[t.Group]; g != nil {
		e.Affected, e.Nodes = g.affected, g.nodes
	}
	if !tripped {
		return e
	}
	for name, n := range b.nodes {
		if br.selects(n.Labels) && br.affects(n) && br.groupOf(n) == t.Group {
			e.Names = append(e.Names, name)
		}
	}
	slices.Sort(e.Names)
	e.Names = e.Names[:min(10, len(e.Names))]
	return e
}
