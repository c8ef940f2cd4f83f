package dispatch

import (
	"cmp"
	"slices"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

// line holds the candidates of one namespace and one class, in groups.
type line struct {
	namespace *namespace
	class     *class
	served    uint64
	groups    map[*workload]*group          // by workload in a slow namespace; otherwise one group, at nil
	bySpeed   [speeds]ordered.Queue[*group] // of their workloads
	pos       [doors]int
}

// group holds the candidates of one workload in a line; unless the namespace is slow, all candidates of the line.
type group struct {
	*turns
	line     *line
	workload *workload // nil unless the namespace is slow
	speed    speed     // of its workload when it was placed
	pos      int
}

func newLine(n *namespace, cl *class, serial uint64) *line {
	l := &line{namespace: n, class: cl, served: serial}
	l.clear()
	return l
}

// clear drops all groups.
func (l *line) clear() {
	l.groups = map[*workload]*group{}
	for s := range l.bySpeed {
		l.bySpeed[s] = ordered.New((*group).before, func(g *group) *int { return &g.pos })
	}
}

// before reports whether it is the turn of this group before that of the other group, which has another workload.
func (g *group) before(other *group) bool {
	w, v := g.workload, other.workload
	return cmp.Or(cmp.Compare(w.calls, v.calls), cmp.Compare(w.served, v.served)) < 0
}

// stand adds a candidate to its line.
func (c *Core) stand(it *item) {
	it.class.size++
	c.waiting++
	if it.Own != Other {
		c.own.Set(it)
		return
	}
	w := c.workloadOf(&it.Candidate)
	l := w.namespace.lines[it.class]
	if l == nil {
		l = newLine(w.namespace, it.class, c.nextSerial())
		w.namespace.lines[it.class] = l
	}
	w.waiting++
	it.workload = w
	l.join(it)
	l.arrange()
}

// join adds a candidate to its group.
func (l *line) join(it *item) {
	var w *workload
	if l.namespace.speed() == slow {
		w = it.workload
	}
	g := l.groups[w]
	if g == nil {
		g = &group{line: l, workload: w, turns: newTurns()}
		l.groups[w] = g
		l.place(g)
	}
	it.group = g
	g.set(it)
}

// place puts a group behind those whose turn it is before.
func (l *line) place(g *group) {
	l.bySpeed[g.speed].Remove(g)
	if g.workload != nil {
		g.speed = g.workload.speed
	}
	l.bySpeed[g.speed].Set(g)
}

// arrange opens those doors to the line that a group of the line may use.
func (l *line) arrange() {
	for d := range doors {
		l.class.doors[d].Include(l, l.first(d) != nil)
	}
}

// first returns the group whose turn it is at the door; nil if no group may use the door. In slots, a workload that is
// known to be quick goes before a probe.
func (l *line) first(d door) *group {
	n := l.namespace
	probing, _ := l.bySpeed[unknown].First()
	isQuick, _ := l.bySpeed[quick].First()
	isSlow, _ := l.bySpeed[slow].First()
	switch {
	case (d == toSlot) == (n.speed() == slow):
		return nil
	case d == toSlot:
		if n.speed() == unknown && n.allCalls() > 0 {
			return nil
		}
		return probing
	case d == toSlotOfSlow:
		if isQuick != nil || n.probe != nil {
			return isQuick
		}
		return probing
	case probing == nil || isSlow != nil && isSlow.before(probing):
		return isSlow
	}
	return probing
}

// leave removes a candidate from its line, and forgets its workload if the workload is idle.
func (c *Core) leave(it *item) {
	c.stepOut(it)
	if it.Own == Other {
		c.forgetIdle(it.workload)
	}
}

// stepOut removes a candidate from its line. Its namespace and its workload keep their turns.
func (c *Core) stepOut(it *item) {
	if it.Own != Other {
		c.own.Remove(it)
		c.drop(it.class)
		return
	}
	it.group.remove(it)
	c.left(it)
}

// left counts out a candidate that its group no longer holds. It drops the group, the line and the class if they are
// empty.
func (c *Core) left(it *item) {
	g, l := it.group, it.group.line
	it.group = nil
	it.workload.waiting--
	if g.empty() {
		delete(l.groups, g.workload)
		l.bySpeed[g.speed].Remove(g)
	}
	l.arrange()
	if len(l.groups) == 0 {
		delete(l.namespace.lines, l.class)
	}
	c.drop(l.class)
}

// regroup arranges the candidates of a line whose namespace has become slow, or is slow no longer, in the order in
// which they were first offered.
func (l *line) regroup() {
	var all []*item
	for _, g := range l.groups {
		for _, node := range g.nodes {
			all = append(all, node.waiting.All()...)
		}
	}
	slices.SortFunc(all, bySerial)
	l.clear()
	for _, it := range all {
		it.pos = 0 // in the turns that were dropped
		l.join(it)
	}
}
