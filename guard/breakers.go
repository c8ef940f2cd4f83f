package guard

import (
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

// Breakers record which groups of nodes are tripped. Until [Breakers.Synced] they know only some of the nodes, and
// no breaker trips.
type Breakers struct {
	synced bool
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
// additions. Step returns the trips and resets, in the order of the breakers.
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

// Synced marks the nodes as complete. It returns the trips and resets that follow. Recorded trips of groups without
// nodes end.
func (b *Breakers) Synced(now time.Time) []Event {
	b.synced = true
	for _, one := range b.list {
		if len(b.nodes) > 0 {
			one.forgetEmpty()
		}
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

// Missing returns the removals of the nodes that are not among these changes.
func (b *Breakers) Missing(all []NodeChange) (removals []NodeChange) {
	there := make(map[string]bool, len(all))
	for i := range all {
		there[all[i].Name] = true
	}
	for name := range b.nodes {
		if !there[name] {
			removals = append(removals, NodeChange{Name: name})
		}
	}
	return removals
}

// Next returns when a step is due even if nothing changes. It returns false if none is.
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

// Replace replaces the breakers. A breaker that keeps its name and its groups stays tripped; the others are judged
// anew by the present nodes. Deleted nodes no longer count if the breaker's taints or its nodeSelector have changed.
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
	b.restore(trips, true)
	for _, one := range b.list {
		one.touchAll()
	}
	return b.Step(now)
}
