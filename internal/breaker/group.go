package breaker

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
)

// group is the state of a breaker for one group of nodes. Both numbers include the departed nodes that still count.
type group struct {
	nodes, affected int
	trip            *TripRecord // nil: not tripped
	below           time.Time   // since when few enough nodes are affected, if that leads to a reset; otherwise zero
}

// departure is an affected node that was deleted.
type departure struct {
	node *Node
	at   time.Time
}

// breaker is one breaker with its groups.
type breaker struct {
	policy.Breaker
	selects  func(labels map[string]string) bool
	groups   map[string]*group
	departed []departure // those that still count, in the order of their deletions
}

func newBreaker(b policy.Breaker) *breaker {
	return &breaker{Breaker: b, selects: policy.NodesSelected(b.NodeSelector), groups: map[string]*group{}}
}

// group returns the group of this name, and adds it if it is missing.
func (b *breaker) group(name string) *group {
	g := b.groups[name]
	if g == nil {
		g = &group{}
		b.groups[name] = g
	}
	return g
}

func (b *breaker) groupOf(n *Node) string { return policy.GroupOf(b.TopologyKey, n.Labels) }

func (b *breaker) affects(n *Node) bool {
	return slices.ContainsFunc(n.Taints, func(t v1.Taint) bool { return b.Counts(t.Key) })
}

// count adds a node to its group if by is 1, and removes it if by is -1.
func (b *breaker) count(n *Node, by int) {
	if !b.selects(n.Labels) {
		return
	}
	g := b.group(b.groupOf(n))
	g.nodes += by
	if b.affects(n) {
		g.affected += by
	}
}

// apply replaces the previous state of a node by the present state. Either state may be nil.
func (b *breaker) apply(now time.Time, before, after *Node) {
	switch {
	case before == nil:
	case b.affects(before) && (after == nil || after.UID != before.UID):
		b.departed = append(b.departed, departure{before, now}) // and still counts
	default:
		b.count(before, -1)
	}
	if after != nil {
		b.count(after, 1)
	}
}

// exceeded reports whether the affected nodes of the group trip the breaker.
func (b *breaker) exceeded(g *group) bool { return b.above(g) && g.affected >= b.LeastNodes() }

// idle returns why the breaker cannot trip as intended, whatever taints the present nodes get: "breaker zone-outage has
// one group of all nodes: no node has the label zone"; "" if it can, or if there are no nodes.
func (b *breaker) idle(nodes int) string {
	most, labelled, least := 0, false, b.LeastAffected()
	for name, g := range b.groups {
		if g.trip != nil {
			return "" // there were more nodes
		}
		most, labelled = max(most, g.nodes), labelled || name != policy.NoGroup
	}
	switch {
	case nodes == 0:
		return ""
	case most == 0:
		return "breaker " + b.Name + " can never trip: its nodeSelector selects no node"
	case !labelled:
		return "breaker " + b.Name + " has one group of all nodes: no node has the label " + b.TopologyKey
	case most < least:
		return fmt.Sprintf("breaker %s can never trip: at least %d nodes of a group must be affected, and the largest "+
			"group has %d", b.Name, least, most)
	}
	return ""
}

// above reports whether more nodes are affected than the limit permits. It does not round percentages.
func (b *breaker) above(g *group) bool {
	limit, percent := b.Limit()
	if percent {
		return g.affected*100 > limit*g.nodes
	}
	return g.affected > limit
}

// next returns when time alone changes the state next; zero means never.
func (b *breaker) next() (next time.Time) {
	if len(b.departed) > 0 {
		next = b.departed[0].at.Add(b.ResetTime())
	}
	for _, g := range b.groups {
		if reset := g.below.Add(b.ResetTime()); !g.below.IsZero() && (next.IsZero() || reset.Before(next)) {
			next = reset
		}
	}
	return next
}

// advance applies, in order, the changes that time alone has caused until now.
func (b *breaker) advance(now time.Time, synced bool) {
	for at := b.next(); !at.IsZero() && !at.After(now); at = b.next() {
		for len(b.departed) > 0 && !b.departed[0].at.Add(b.ResetTime()).After(at) {
			b.count(b.departed[0].node, -1)
			b.departed = b.departed[1:]
		}
		b.evaluate(at, synced)
	}
}

// evaluate trips or resets the breaker for each group, and forgets the groups without nodes and trips.
func (b *breaker) evaluate(now time.Time, synced bool) {
	for name, g := range b.groups {
		if synced {
			b.evaluateGroup(name, g, now)
		}
		if g.nodes == 0 && g.trip == nil {
			delete(b.groups, name)
		}
	}
}

func (b *breaker) evaluateGroup(name string, g *group, now time.Time) {
	if g.trip == nil && b.exceeded(g) {
		g.trip = &TripRecord{Breaker: b.Name, TopologyKey: b.TopologyKey, Group: name, Began: now}
	}
	if g.trip != nil && b.endedByHand(g.trip.Began) {
		g.trip.Ended = true
	}
	switch {
	case g.trip == nil:
	case b.above(g):
		g.below = time.Time{}
	case g.trip.Ended:
		g.endTrip()
	case b.Reset == policy.Manual:
		g.below = time.Time{}
	case g.below.IsZero():
		g.below = now
	case !now.Before(g.below.Add(b.ResetTime())):
		g.endTrip()
	}
}

func (g *group) endTrip() { g.trip, g.below = nil, time.Time{} }

// endedByHand reports whether resetBefore ends a trip that began then.
func (b *breaker) endedByHand(began time.Time) bool {
	return b.ResetBefore != nil && began.Before(b.ResetBefore.Time)
}

// inherit adopts the departed nodes and the trips that the breaker had before a reload. If the taints or the selector
// have changed, it is unknown since when few enough nodes are affected.
func (b *breaker) inherit(old *breaker) {
	same := slices.Equal(b.Taints, old.Taints) && reflect.DeepEqual(b.NodeSelector, old.NodeSelector)
	for _, d := range old.departed {
		if b.affects(d.node) {
			b.departed = append(b.departed, d)
			b.count(d.node, 1)
		}
	}
	for name, before := range old.groups {
		if before.trip == nil {
			continue
		}
		g := b.group(name)
		if g.trip = before.trip; same {
			g.below = before.below
		}
	}
}
