package guard

import (
	"reflect"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// group is the state of a breaker for one group of nodes.
type group struct {
	name            string
	nodes, affected int
	departed        []time.Time // when affected nodes that still count were deleted; ascending
	trip            trip
	below           time.Time // since when few enough nodes are affected while tripped; zero if too many are
	touched         bool      // something has changed since it was judged
	events          []bool    // tripped, or reset
}

// trip is the state of a group.
type trip struct {
	state tripState
	began time.Time
}

type tripState uint8

const (
	closed  tripState = iota // not tripped
	tripped                  // holds
	// reset by hand while too many nodes are affected: it does not trip again before there are fewer
	spent
)

// breaker is one breaker with its groups.
type breaker struct {
	policy.Breaker
	counts func(*Node) bool
	groups map[string]*group
}

func newBreaker(b *policy.Breaker) *breaker {
	return &breaker{Breaker: *b, counts: countsOf(b), groups: map[string]*group{}}
}

// countsOf returns the function that reports whether a node counts.
func countsOf(b *policy.Breaker) func(*Node) bool {
	selects := policy.NodesSelected(b.NodeSelector)
	return func(n *Node) bool { return n != nil && selects(n.Labels) }
}

// of returns the group of that name.
func (b *breaker) of(name string) *group {
	g := b.groups[name]
	if g == nil {
		g = &group{name: name}
		b.groups[name] = g
	}
	g.touched = true
	return g
}

func (b *breaker) touchAll() {
	for _, g := range b.groups {
		g.touched = true
	}
}

func (b *breaker) affects(n *Node) bool {
	for i := range n.Taints {
		if slices.Contains(b.Taints, policy.TaintKey{Key: n.Taints[i].Key}) {
			return true
		}
	}
	return false
}

// apply replaces the previous state of a node by the present one. Either may be nil.
func (b *breaker) apply(now time.Time, was, is *Node) {
	if b.counts(was) {
		g := b.of(policy.GroupOf(b.TopologyKey, was.Labels))
		g.nodes--
		if b.affects(was) {
			g.affected--
			if is == nil || is.UID != was.UID {
				g.departed = append(g.departed, now)
			}
		}
	}
	if b.counts(is) {
		g := b.of(policy.GroupOf(b.TopologyKey, is.Labels))
		g.nodes++
		if b.affects(is) {
			g.affected++
		}
	}
}

// share returns the numbers of affected nodes and of all nodes; both include those that were deleted and still count.
func (g *group) share() (affected, nodes int) {
	return g.affected + len(g.departed), g.nodes + len(g.departed)
}

// empty reports whether the group has no nodes, and no deleted ones that still count. A nil group has none.
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
	if reset := g.below.Add(b.ResetTime()); g.trip.state == tripped && !g.below.IsZero() && b.Reset != policy.Manual &&
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
			b.judgeGroup(g, at, synced)
		}
	}
}

// judge judges the groups that were touched, and removes those without any state.
func (b *breaker) judge(now time.Time, synced bool) {
	for name, g := range b.groups {
		if g.touched {
			g.touched = false
			b.judgeGroup(g, now, synced)
		}
		if affected, nodes := g.share(); affected == 0 && nodes == 0 && g.trip.state == closed && len(g.events) == 0 {
			delete(b.groups, name)
		}
	}
}

// judgeGroup trips or resets the breaker for a group.
func (b *breaker) judgeGroup(g *group, now time.Time, synced bool) {
	above := b.above(g)
	if g.trip.state == tripped && b.endedByHand(g.trip.began) {
		g.end(spent)
	}
	switch {
	case !synced:
	case g.trip.state == tripped && above:
		g.below = time.Time{}
	case g.trip.state == tripped && b.Reset != policy.Manual:
		if g.below.IsZero() {
			g.below = now
		}
		if !now.Before(g.below.Add(b.ResetTime())) {
			g.end(closed)
		}
	case g.trip.state == spent && !above:
		g.trip = trip{}
	case g.trip.state == closed && b.exceeded(g):
		b.tripGroup(g, now)
	}
}

// tripGroup trips the breaker. A trip that resetBefore ends already counts as reset by hand.
func (b *breaker) tripGroup(g *group, now time.Time) {
	g.trip, g.below = trip{tripped, now}, time.Time{}
	if b.endedByHand(now) {
		g.trip.state = spent
		return
	}
	g.events = append(g.events, true)
}

func (g *group) end(as tripState) {
	g.trip.state, g.below = as, time.Time{}
	if as == closed {
		g.trip = trip{}
	}
	g.events = append(g.events, false)
}

// endedByHand reports whether resetBefore ends a trip that began then.
func (b *breaker) endedByHand(began time.Time) bool {
	return b.ResetBefore != nil && began.Before(b.ResetBefore.Time)
}

// take returns the events of the groups since the last call, sorted by group.
func (b *breaker) take(all *Breakers, now time.Time) (events []Event) {
	for _, name := range b.withEvents() {
		g := b.groups[name]
		for _, tripped := range g.events {
			events = append(events, b.event(all, g, tripped, now))
		}
		g.events = nil
	}
	return events
}

// event returns the event of a group that has tripped at that time, or was reset.
func (b *breaker) event(all *Breakers, g *group, tripped bool, at time.Time) Event {
	e := Event{Trip: policy.Trip{Breaker: b.Name, Group: g.name}, Tripped: tripped, At: at}
	e.Affected, e.Nodes = g.share()
	if tripped {
		e.Names = b.names(all, g.name)
	}
	return e
}

// withEvents returns the names of the groups that have events, sorted.
func (b *breaker) withEvents() (names []string) {
	for name, g := range b.groups {
		if len(g.events) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// names returns the first ten of the affected nodes of a group.
func (b *breaker) names(all *Breakers, group string) []string {
	var names []string
	for name, n := range all.nodes {
		if b.counts(n) && b.affects(n) && policy.GroupOf(b.TopologyKey, n.Labels) == group {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(10, len(names))]
}

// same reports whether the other one is this breaker before a reload: with the same name, groups and nodes.
func (b *breaker) same(other *breaker) bool {
	return b.Name == other.Name && b.TopologyKey == other.TopologyKey && slices.Equal(b.Taints, other.Taints) &&
		reflect.DeepEqual(b.NodeSelector, other.NodeSelector)
}

// carryOn adopts the deleted nodes, and since when few enough nodes are affected.
func (b *breaker) carryOn(old *breaker) {
	for name, g := range old.groups {
		if len(g.departed) > 0 || !g.below.IsZero() {
			now := b.of(name)
			now.departed, now.below = g.departed, g.below
		}
	}
}
