package guard

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/policy"
)

// Node is what breakers know of a node.
type Node struct {
	Name   string
	UID    types.UID
	Labels map[string]string
	Taints []v1.Taint // of any effect
}

// NodeChange is a node as it is now, or its removal.
type NodeChange struct {
	Name string
	Node *Node // nil: gone
}

// Event reports that a breaker has tripped or was reset for a group.
type Event struct {
	Trip    policy.Trip
	Tripped bool // false: it was reset
	At      time.Time

	// Affected and Nodes are how many nodes of the group were affected, and how many there were. Deleted nodes that
	// still count are among both.
	Affected, Nodes int

	// Names are some of the affected nodes that are there, ten at most.
	Names []string
}

// Breakers know which groups of nodes are tripped. Until [Breakers.Synced] they know only a part of the nodes, and trip
// nothing.
type Breakers struct {
	synced bool
	nodes  map[string]*Node
	list   []*breaker
}

// NewBreakers returns the breakers of a process that knows no nodes yet.
func NewBreakers(list []policy.Breaker) *Breakers {
	b := &Breakers{nodes: map[string]*Node{}}
	for i := range list {
		b.list = append(b.list, newBreaker(&list[i]))
	}
	return b
}

// Step applies the changes of nodes at that time as one change: their order does not count. Changes that are seen together,
// such as a list after a watch has broken off, belong in one step; otherwise removals would count before additions. Step
// returns the trips and resets, in the order of the breakers.
func (b *Breakers) Step(now time.Time, changes ...NodeChange) []Event {
	var events []Event
	for _, one := range b.list {
		one.advance(now, b.synced)
	}
	for _, c := range changes {
		b.apply(now, c)
	}
	for _, one := range b.list {
		one.judge(now, b.synced)
		events = append(events, one.take(b, now)...)
	}
	return events
}

// Synced marks the nodes as complete.
func (b *Breakers) Synced(now time.Time) []Event {
	b.synced = true
	for _, one := range b.list {
		one.touchAll()
	}
	return b.Step(now)
}

func (b *Breakers) apply(now time.Time, c NodeChange) {
	old := b.nodes[c.Name]
	for _, one := range b.list {
		one.apply(now, old, c.Node)
	}
	if c.Node == nil {
		delete(b.nodes, c.Name)
		return
	}
	b.nodes[c.Name] = c.Node
}

// Next returns when a step is due although nothing changes; false if none is.
func (b *Breakers) Next() (next time.Time, ok bool) {
	for _, one := range b.list {
		for _, g := range one.groups {
			if at, due := one.next(g); due && (!ok || at.Before(next)) {
				next, ok = at, true
			}
		}
	}
	return next, ok
}

// Tripped returns the groups that are tripped.
func (b *Breakers) Tripped() map[policy.Trip]bool {
	all := map[policy.Trip]bool{}
	for _, one := range b.list {
		for name, g := range one.groups {
			if g.trip.state == tripped {
				all[policy.Trip{Breaker: one.Name, Group: name}] = true
			}
		}
	}
	return all
}

// Replace makes these the breakers. One that keeps its name and its groups stays tripped; the others are judged anew, by
// the nodes as they are. Nodes that were deleted are forgotten where the taints or the nodes that count are others.
func (b *Breakers) Replace(now time.Time, list []policy.Breaker) []Event {
	trips, old := b.Trips(), b.list
	b.list = nil
	for i := range list {
		one := newBreaker(&list[i])
		if j := slices.IndexFunc(old, one.same); j >= 0 {
			one.carryOn(old[j])
		}
		for _, n := range b.nodes {
			one.apply(now, nil, n)
		}
		b.list = append(b.list, one)
	}
	b.Adopt(trips)
	for _, one := range b.list {
		one.touchAll()
	}
	return b.Step(now)
}
