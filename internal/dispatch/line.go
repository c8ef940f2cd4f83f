package dispatch

import (
	"slices"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

// line holds the candidates of one namespace and one class, in groups.
type line struct {
	namespace *namespace
	class     *class
	served    uint64
	groups    map[*workload]*group         // by workload in a slow namespace; otherwise one group, at nil
	behind    [doors]ordered.Queue[*group] // groups that may use each door
	pos       [doors]int
}

// group holds the candidates of one workload in a line; unless the namespace is slow, all candidates of the line.
type group struct {
	line     *line
	workload *workload // nil unless the namespace is slow
	turns    *turns
	pos      [doors]int
}

func newLine(n *namespace, cl *class, serial uint64) *line {
	l := &line{namespace: n, class: cl, served: serial}
	l.clear()
	return l
}

// clear drops all groups.
func (l *line) clear() {
	l.groups = map[*workload]*group{}
	for d := range doors {
		before := func(a, b *group) bool { return a.before(b, d) }
		l.behind[d] = ordered.New(before, func(g *group) *int { return &g.pos[d] })
	}
}

// before reports whether it is the turn of this group before that of the other group, which has another workload. A
// workload that is known to be quick goes before a probe.
func (g *group) before(other *group, d door) bool {
	w, v := g.workload, other.workload
	if isQuick := w.speed == quick; d == toSlotOfSlow && isQuick != (v.speed == quick) {
		return isQuick
	}
	return w.before(&v.share, d.place())
}

// stand adds a candidate to its line.
func (c *Core) stand(it *item) {
	it.class.size++
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
	c.waiting++
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
	}
	it.group = g
	g.turns.set(it)
	l.place(g)
}

// place puts a group behind the doors that it may use.
func (l *line) place(g *group) {
	w := g.workload
	l.behind[toSlot].Include(g, w == nil)
	l.behind[toSlotOfSlow].Include(g, w != nil && w.speed != slow)
	l.behind[toSlowPlace].Include(g, w != nil && w.speed != quick)
}

// arrange opens those doors to the line that its namespace may use.
func (l *line) arrange() {
	n := l.namespace
	for d := range doors {
		g, open := l.behind[d].First()
		switch {
		case !open:
		case d == toSlot:
			open = n.speed() == quick || n.allCalls() == 0
		case d == toSlotOfSlow:
			open = g.workload.speed == quick || n.probes == 0
		}
		l.class.doors[d].Include(l, open)
	}
}

// next removes and returns the candidate of the line that goes through the door. A probe is the call of an unknown
// workload of a slow namespace in a slot.
func (l *line) next(d door) (it *item, probe bool) {
	g, _ := l.behind[d].First()
	return g.turns.next(), d == toSlotOfSlow && g.workload.speed == unknown
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
	it.group.turns.remove(it)
	c.left(it)
}

// left counts out a candidate that its group no longer holds. It drops the group, the line and the class if they are
// empty.
func (c *Core) left(it *item) {
	g, l := it.group, it.group.line
	it.group = nil
	it.workload.waiting--
	c.waiting--
	if g.turns.empty() {
		delete(l.groups, g.workload)
		for d := range doors {
			l.behind[d].Remove(g)
		}
	}
	l.arrange()
	if len(l.groups) == 0 {
		delete(l.namespace.lines, l.class)
	}
	c.drop(l.class)
}

// regroup arranges the lines of a namespace that has become slow, or is slow no longer.
func (c *Core) regroup(n *namespace) {
	if n.speed() == slow {
		c.slowSlots += n.calls[slot]
	} else {
		c.slowSlots -= n.calls[slot]
	}
	for _, l := range n.lines {
		items := l.items()
		l.clear()
		for _, it := range items {
			it.pos = 0 // in the turns that were dropped
			l.join(it)
		}
	}
}

// items returns the candidates of the line, in the order in which they were first offered.
func (l *line) items() []*item {
	var all []*item
	for _, g := range l.groups {
		for _, node := range g.turns.nodes {
			all = append(all, node.waiting.All()...)
		}
	}
	slices.SortFunc(all, bySerial)
	return all
}
