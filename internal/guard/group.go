package guard

import (
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
)

// group is the state of a breaker for one group of nodes.
type group struct {
	name            string
	nodes, affected int
	departed        []time.Time // when affected nodes that still count were deleted; ascending
	trip            *TripRecord // nil: not tripped
	below           time.Time   // since when few enough nodes are affected while tripped; zero if too many are
}

// breaker is one breaker with its groups.
type breaker struct {
	policy.Breaker
	selects func(labels map[string]string) bool
	groups  map[string]*group
}

func newBreaker(b *policy.Breaker) *breaker {
	return &breaker{Breaker: *b, selects: policy.NodesSelected(b.NodeSelector), groups: map[string]*group{}}
}

// group returns the group of this name, and adds it if it is missing.
func (b *breaker) group(name string) *group {
	g := b.groups[name]
	if g == nil {
		g = &group{name: name}
		b.groups[name] = g
	}
	return g
}

// counts reports whether the breaker counts the node; it does not count nil.
func (b *breaker) counts(n *Node) bool { return n != nil && b.selects(n.Labels) }

func (b *breaker) affects(n *Node) bool {
	return slices.ContainsFunc(n.Taints, func(t v1.Taint) bool { return b.Counts(t.Key) })
}

// apply replaces the previous state of a node by the present state. Either state may be nil.
func (b *breaker) apply(now time.Time, was, is *Node) {
	if b.counts(was) {
		g := b.group(policy.GroupOf(b.TopologyKey, was.Labels))
		g.nodes--
		if b.affects(was) {
			g.affected--
			if is == nil || is.UID != was.UID {
				g.departed = append(g.departed, now)
			}
		}
	}
	if b.counts(is) {
		g := b.group(policy.GroupOf(b.TopologyKey, is.Labels))
		g.nodes++
		if b.affects(is) {
			g.affected++
		}
	}
}

// countAll counts nodes that the breaker has not counted yet.
func (b *breaker) countAll(now time.Time, nodes map[string]*Node) {
	for _, n := range nodes {
		b.apply(now, nil, n)
	}
}

// share returns the numbers of affected nodes and of all nodes; both include the deleted nodes that still count.
func (g *group) share() (affected, nodes int) {
	return g.affected + len(g.departed), g.nodes + len(g.departed)
}

// empty reports whether the group has neither nodes nor deleted nodes that still count. A nil group is empty.
func (g *group) empty() bool { return g == nil || g.nodes == 0 && len(g.departed) == 0 }

// exceeded reports whether the nodes of the group show a trip.
func (b *breaker) exceeded(g *group) bool {
	affected, _ := g.share()
	return b.above(g) && affected >= b.LeastNodes()
}

// above reports whether more nodes are affected than the limit permits. It is exact.
func (b *breaker) above(g *group) bool {
	affected, nodes := g.share()
	limit, percent := b.Limit()
	if percent {
		return affected*100 > limit*nodes
	}
	return affected > limit
}

// next returns when the state of the group next changes by the passing of time alone.
func (b *breaker) next(g *group) (next time.Time, ok bool) {
	if len(g.departed) > 0 {
		next, ok = g.departed[0].Add(b.ResetTime()), true
	}
	if reset := g.below.Add(b.ResetTime()); g.trip.holds() && !g.below.IsZero() && b.Reset != policy.Manual &&
		(!ok || reset.Before(next)) {
		next, ok = reset, true
	}
	return next, ok
}

// advance applies the changes by time alone until now, in their order.
func (b *breaker) advance(now time.Time, synced bool) {
	for _, g := range b.groups {
		for at, due := b.next(g); due && !at.After(now); at, due = b.next(g) {
			for len(g.departed) > 0 && !g.departed[0].Add(b.ResetTime()).After(at) {
				g.departed = g.departed[1:]
			}
			b.evaluate(g, at, synced)
		}
	}
}

// evaluate trips or resets the breaker for a group, by the nodes and the time.
func (b *breaker) evaluate(g *group, now time.Time, synced bool) {
	above := b.above(g)
	if g.trip.holds() && b.endedByHand(g.trip.Began) {
		ended := *g.trip
		ended.Ended = true
		g.trip, g.below = &ended, time.Time{}
	}
	switch {
	case !synced:
	case g.trip == nil && b.exceeded(g):
		t := b.record(g.name, now)
		t.Ended = b.endedByHand(now)
		g.trip, g.below = &t, time.Time{}
	case g.trip == nil:
	case above:
		g.below = time.Time{}
	case g.trip.Ended:
		g.trip = nil
	case b.Reset != policy.Manual:
		if g.below.IsZero() {
			g.below = now
		}
		if !now.Before(g.below.Add(b.ResetTime())) {
			g.trip, g.below = nil, time.Time{}
		}
	}
}

// endedByHand reports whether resetBefore ends a trip that began then.
func (b *breaker) endedByHand(began time.Time) bool {
	return b.ResetBefore != nil && began.Before(b.ResetBefore.Time)
}

// same reports whether the other breaker is this breaker before a reload, with the same groups and the same affected
// nodes.
func (b *breaker) same(other *breaker) bool {
	return b.Name == other.Name && b.TopologyKey == other.TopologyKey && slices.Equal(b.Taints, other.Taints) &&
		reflect.DeepEqual(b.NodeSelector, other.NodeSelector)
}
