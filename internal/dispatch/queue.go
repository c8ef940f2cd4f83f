package dispatch

import "time"

// namespace is what rules 2 and 3 ask about a namespace. It exists while it has candidates or calls.
type namespace struct {
	name   string
	lines  map[*class]*line
	calls  int       // in flight
	served uint64    // serial number of the last start, or of the creation
	heldAt time.Time // when rule 3 last held it back
}

// line holds the candidates of a namespace that need the same tokens; it is not empty.
type line struct {
	namespace *namespace
	class     *class
	served    uint64
	turns     *turns

	// What its idle queue compares, in the line itself: a queue of 10,000 lines is in no cache of the processor.
	rank uint64
	pos  int // among the idle lines of its class
}

// before reports whether it is this line's turn before that of another line of its class. Tokens go round; without
// them rule 2 decides.
func (l *line) before(other *line) bool {
	if l.class.rated && other.class.rated {
		return l.servedBefore(other)
	}
	return l.byRuleTwo(other)
}

// byRuleTwo reports whether rule 2 prefers this line.
func (l *line) byRuleTwo(other *line) bool {
	if i, j := l.namespace.calls, other.namespace.calls; i != j {
		return i < j
	}
	if i, j := l.repeats(), other.repeats(); i != j {
		return j
	}
	return l.servedBefore(other)
}

// servedBefore reports whether the line's namespace was served longer ago. In a namespace, a first attempt goes before
// a repeat, and then lines go round.
func (l *line) servedBefore(other *line) bool {
	if l.namespace != other.namespace {
		return l.namespace.served < other.namespace.served
	}
	if i, j := l.repeats(), other.repeats(); i != j {
		return j
	}
	return l.served < other.served
}

// repeats reports whether a call was made before for the candidate whose turn it is in the line.
func (l *line) repeats() bool { return l.turns.peek().Ways[0].Attempt > 1 }

// place puts the line where it belongs among the lines of its class, after its first candidate or the calls of its
// namespace have changed.
func (l *line) place() {
	if l.namespace.calls > 0 {
		l.class.idle.Remove(l)
		l.class.busy[l] = true
		return
	}
	delete(l.class.busy, l)
	l.rank = l.namespace.served
	if !l.class.rated && l.repeats() {
		l.rank |= 1 << 63
	}
	l.class.idle.Set(l)
}

// stand adds a candidate to its line.
func (c *Core) stand(it *item) {
	n := c.namespaceOf(it.Namespace)
	l := n.lines[it.class]
	if l == nil {
		l = &line{namespace: n, class: it.class, served: c.nextSerial(), turns: newTurns()}
		n.lines[it.class] = l
	}
	c.standing++
	it.line = l
	l.turns.set(it)
	l.place()
}

// namespaceOf returns the namespace of that name, a new one if there is none.
func (c *Core) namespaceOf(name string) *namespace {
	n := c.namespaces[name]
	if n == nil {
		n = &namespace{name: name, lines: map[*class]*line{}, served: c.nextSerial()}
		c.namespaces[name] = n
	}
	return n
}

// stepOut removes a candidate from its line, and the line with the last candidate.
func (c *Core) stepOut(it *item) {
	l := it.line
	l.turns.remove(it)
	c.standing--
	it.line = nil
	if !l.turns.empty() {
		l.place()
		return
	}
	delete(l.namespace.lines, l.class)
	delete(l.class.busy, l)
	l.class.idle.Remove(l)
	c.forgetIdle(l.namespace)
}

// countCall adds to the calls of a namespace, and moves its lines if it had no calls, or has none now.
func (c *Core) countCall(n *namespace, by int) {
	n.calls += by
	if n.calls == 0 || n.calls == by {
		for _, l := range n.lines {
			l.place()
		}
	}
	c.forgetIdle(n)
}

func (c *Core) forgetIdle(n *namespace) {
	if n.calls == 0 && len(n.lines) == 0 {
		delete(c.namespaces, n.name)
	}
}
