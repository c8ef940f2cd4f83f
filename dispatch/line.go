package dispatch

import (
	"cmp"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/internal/ordered"
)

// class holds the lines of the candidates that wait for the same rates.
type class struct {
	key      string
	ways     []guard.Buckets
	rated    bool                        // each way has buckets
	size     int                         // candidates
	doors    [doors]ordered.Queue[*line] // the lines that may use each door
	dryUntil time.Time                   // when its last wait for tokens ends, or has ended
	dryPos   int                         // among the classes that wait for tokens
}

// door is a way to a place, which some conditions open and close.
type door uint8

const (
	toSlot       door = iota // of a namespace that is not slow
	toSlotOfSlow             // of a slow namespace
	toSlowPlace              // of a slow namespace
	doors
)

// place returns the kind of place behind the door.
func (d door) place() kind {
	if d == toSlowPlace {
		return slowPlace
	}
	return slot
}

// way returns the first way whose rates all have a token now; ok is false if there is none.
func (c *class) way(now time.Time) (way int, ok bool) {
	for i := range c.ways {
		if rate, _ := c.ways[i].Wait(now); rate == "" {
			return i, true
		}
	}
	return 0, false
}

// runDry notes that no way of the class has its tokens until then.
func (c *Core) runDry(cl *class, until time.Time) {
	cl.dryUntil = until
	delete(c.ready, cl)
	c.dry.Set(cl)
}

// refill makes the classes ready whose wait for tokens has ended.
func (c *Core) refill(now time.Time) {
	for cl, ok := c.dry.First(); ok && !cl.dryUntil.After(now); cl, ok = c.dry.First() {
		c.dry.Remove(cl)
		c.ready[cl] = true
	}
}

// wait returns the rate that is the first to have a token, and when it has one. The rate is empty if there is a way
// now.
func (c *class) wait(now time.Time) (rate string, until time.Time) {
	for i := range c.ways {
		name, at := c.ways[i].Wait(now)
		if name == "" {
			return "", time.Time{}
		}
		if rate == "" || at.Before(until) {
			rate, until = name, at
		}
	}
	return rate, until
}

// line holds the candidates of one namespace and one class. A line of a slow namespace has a group for each workload;
// any other line has one group.
type line struct {
	namespace *namespace
	class     *class
	served    uint64
	size      int
	all       *group // of a namespace that is not slow
	pos       [doors]int

	// The groups of a slow namespace, by what they may use.
	quick, unknown, slow ordered.Queue[*group]
}

// group holds the candidates of a line whose turn does not differ by workload.
type group struct {
	line     *line
	workload *workload // nil for that of a namespace that is not slow
	turns    *turns

	quickPos, unknownPos, slowPos int
}

func newLine(n *namespace, c *class, serial uint64) *line {
	inSlots := func(a, b *group) bool { return a.workload.before(&b.workload.share, slot) }
	inSlowPlaces := func(a, b *group) bool { return a.workload.before(&b.workload.share, slowPlace) }
	return &line{
		namespace: n, class: c, served: serial,
		quick:   ordered.New(inSlots, func(g *group) *int { return &g.quickPos }),
		unknown: ordered.New(inSlots, func(g *group) *int { return &g.unknownPos }),
		slow:    ordered.New(inSlowPlaces, func(g *group) *int { return &g.slowPos }),
	}
}

func (c *Core) newClass(key string, ways []guard.Buckets) *class {
	cl := &class{key: key, ways: ways, rated: !slices.ContainsFunc(ways,
		func(b guard.Buckets) bool { return b.Key == "" })}
	for d := range doors {
		cl.doors[d] = ordered.New(func(a, b *line) bool {
			return choice{a, d}.before(choice{b, d})
		}, func(l *line) *int { return &l.pos[d] })
	}
	return cl
}

func newDry() ordered.Queue[*class] {
	return ordered.New(func(a, b *class) bool {
		if c := a.dryUntil.Compare(b.dryUntil); c != 0 {
			return c < 0
		}
		return a.key < b.key
	}, func(cl *class) *int { return &cl.dryPos })
}

// classOf returns the class of a candidate.
func (c *Core) classOf(candidate *Candidate) *class {
	var ways []guard.Buckets
	key := ""
	for i := range candidate.Ways {
		w := &candidate.Ways[i]
		if t := w.Request.Verdict.Taint; len(c.rateList) > 0 && t != nil {
			buckets := c.rates.BucketsOf(t.Key, w.NodeLabels)
			ways = append(ways, buckets)
			key += buckets.Key + "\x01"
			continue
		}
		ways = append(ways, guard.Buckets{})
		key += "\x01"
	}
	cl := c.classes[key]
	if cl == nil {
		cl = c.newClass(key, ways)
		c.classes[key], c.ready[cl] = cl, true
	}
	return cl
}

// stand adds a candidate to its line.
func (c *Core) stand(now time.Time, it *item) {
	it.class.size++
	if it.Own != Other {
		c.own.Set(it)
		return
	}
	n := c.namespaceOf(it.Namespace)
	w := c.workloadOf(n, it.Workload)
	l := n.lines[it.class]
	if l == nil {
		l = newLine(n, it.class, c.nextSerial())
		n.lines[it.class] = l
	}
	l.size++
	n.waiting++
	w.waiting++
	c.waiting++
	it.workload = w
	c.join(now, l, it)
	c.arrangeLine(now, l)
	c.remember(now, w)
}

// join adds a candidate to its group in a line.
func (c *Core) join(now time.Time, l *line, it *item) {
	if !l.namespace.isSlow {
		if l.all == nil {
			l.all = &group{line: l, turns: newTurns()}
		}
		it.group = l.all
		it.group.turns.set(it)
		return
	}
	g := it.workload.groups[l]
	if g == nil {
		g = &group{line: l, workload: it.workload, turns: newTurns()}
		it.workload.groups[l] = g
	}
	it.group = g
	g.turns.set(it)
	c.rankGroup(now, g)
}

// leave removes a candidate from its line, and what is no longer in use with it.
func (c *Core) leave(now time.Time, it *item) {
	c.stepOut(now, it)
	if it.Own == Other {
		c.remember(now, it.workload)
	}
}

// stepOut removes a candidate from its line. Its namespace and its workload keep their turns.
func (c *Core) stepOut(now time.Time, it *item) {
	if it.Own != Other {
		c.own.Remove(it)
		c.drop(it.class)
		return
	}
	l := it.group.line
	it.group.turns.remove(it)
	c.left(it)
	c.arrangeLine(now, l)
	if l.size == 0 {
		delete(l.namespace.lines, l.class)
	}
}

// left counts a candidate that its turns no longer hold, and drops what is empty.
func (c *Core) left(it *item) {
	g := it.group
	g.line.size--
	g.line.namespace.waiting--
	it.workload.waiting--
	c.waiting--
	it.group = nil
	if g.turns.size == 0 && g.workload != nil {
		g.line.quick.Remove(g)
		g.line.unknown.Remove(g)
		g.line.slow.Remove(g)
		delete(g.workload.groups, g.line)
	}
	c.drop(it.class)
}

// drop counts a candidate out of its class.
func (c *Core) drop(cl *class) {
	if cl.size--; cl.size == 0 {
		delete(c.classes, cl.key)
		delete(c.ready, cl)
		c.dry.Remove(cl)
	}
}

// rank puts the groups of a workload where its speed and its calls say.
func (c *Core) rank(now time.Time, w *workload) {
	for _, g := range w.groups {
		c.rankGroup(now, g)
	}
}

func (c *Core) rankGroup(now time.Time, g *group) {
	l := g.line
	s := g.workload.speed(now)
	place := func(h *ordered.Queue[*group], here bool) {
		if here {
			h.Set(g)
		} else {
			h.Remove(g)
		}
	}
	place(&l.quick, s == quick)
	place(&l.unknown, s == unknown)
	place(&l.slow, s != quick)
}

// arrange puts the lines of a namespace where its speed and its calls say.
func (c *Core) arrange(now time.Time, n *namespace) {
	if isSlow := n.speed(now) == slow; isSlow != n.isSlow {
		c.regroup(now, n, isSlow)
	}
	for cl, l := range n.lines {
		c.arrangeLine(now, l)
		if l.size == 0 {
			delete(n.lines, cl)
		}
	}
}

// arrangeLine opens those doors to a line that its namespace may use.
func (c *Core) arrangeLine(now time.Time, l *line) {
	n := l.namespace
	opens := [doors]bool{
		toSlot:       !n.isSlow && l.size > 0 && (n.allCalls() == 0 || n.speed(now) == quick),
		toSlotOfSlow: l.quick.Len() > 0 || l.unknown.Len() > 0 && n.probes == 0,
		toSlowPlace:  l.slow.Len() > 0,
	}
	for d, open := range opens {
		if open {
			l.class.doors[d].Set(l)
		} else {
			l.class.doors[d].Remove(l)
		}
	}
}

// regroup arranges the lines of a namespace that has become slow, or is slow no longer.
func (c *Core) regroup(now time.Time, n *namespace, isSlow bool) {
	if isSlow {
		c.slowSlots += n.calls[slot]
	} else {
		c.slowSlots -= n.calls[slot]
	}
	n.isSlow = isSlow
	for cl, old := range n.lines {
		items := old.items()
		l := newLine(n, cl, old.served)
		for d := range doors {
			cl.doors[d].Remove(old)
		}
		l.size = old.size
		n.lines[cl] = l
		for _, it := range items {
			it.group.turns.remove(it)
			delete(it.workload.groups, old)
			c.join(now, l, it)
		}
	}
}

// items returns the candidates of the line, in the order in which they were first offered.
func (l *line) items() []*item {
	var all []*item
	groups := l.slow.All()
	groups = append(groups, l.quick.All()...)
	if l.all != nil {
		groups = append(groups, l.all)
	}
	for _, g := range groups {
		for _, node := range g.turns.nodes {
			all = append(all, node.waiting.All()...)
		}
	}
	slices.SortFunc(all, func(a, b *item) int { return cmp.Compare(a.serial, b.serial) })
	return all
}

// next removes and returns the candidate of the line that goes through the door.
func (l *line) next(d door) (it *item, probe bool) {
	g := l.all
	switch d {
	case toSlotOfSlow:
		var ok bool
		if g, ok = l.quick.First(); !ok {
			g, _ = l.unknown.First()
			probe = true
		}
	case toSlowPlace:
		g, _ = l.slow.First()
	}
	return g.turns.next(), probe
}
