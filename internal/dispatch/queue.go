package dispatch

import "time"

// namespace is the state of a namespace for rules 2 and 3. It exists while it has candidates or calls.
type namespace struct {
	name   string
	queues map[*tokenSet]*queue
	calls  int       // in flight
	served uint64    // serial number of the last start, or of the creation
	heldAt time.Time // when rule 3 last held it back
}

// queue holds the candidates of a namespace that need the same tokens; it is not empty.
type queue struct {
	namespace *namespace
	tokenSet  *tokenSet
	served    uint64
	nodes     *roundRobin
	turn      turn // in its token set
	pos       int  // in its token set
}

// turn is the sort key of a queue. The queue stores it, as computing 10,000 turns misses the processor's caches.
type turn [4]uint64

// before reports whether the first element that differs is less.
func (t *turn) before(other *turn) bool {
	for i := range t {
		if t[i] != other[i] {
			return t[i] < other[i]
		}
	}
	return false
}

// byRuleTwo returns the turn by rule 2. The queues of a namespace take turns.
func (q *queue) byRuleTwo() turn {
	return turn{uint64(q.namespace.calls), q.repeats(), q.namespace.served, q.served}
}

// byTokens returns the turn among queues that wait for tokens: namespaces take turns, and so do their queues.
func (q *queue) byTokens() turn { return turn{q.namespace.served, q.repeats(), q.served} }

// repeats returns 1 if the next candidate of the queue was called before.
func (q *queue) repeats() uint64 {
	if q.nodes.peek().Requests[0].Attempt > 1 {
		return 1
	}
	return 0
}

// place gives the queue its present turn in its token set, and reports whether the turn has changed. If tokens are
// needed, a call of another queue of the namespace makes the stored turn too early; [Core.first] corrects that.
func (q *queue) place() (moved bool) {
	var next turn
	if q.tokenSet.rated {
		next = q.byTokens()
	} else {
		next = q.byRuleTwo()
	}
	if moved = q.pos == 0 || q.turn != next; moved {
		q.turn = next
		q.tokenSet.queues.Set(q)
	}
	return moved
}

// add adds a candidate to its queue or, if it is an own pod, to own.waiting.
func (c *Core) add(e *entry) {
	if e.Own != Other {
		c.own.wait(e)
		return
	}
	c.enqueue(e)
}

// remove removes a candidate from its queue or from own.waiting, whether or not its call starts now.
func (c *Core) remove(e *entry) {
	if e.queue == nil {
		c.own.waiting.Remove(e)
		return
	}
	c.dequeue(e)
}

// enqueue adds a candidate to its queue.
func (c *Core) enqueue(e *entry) {
	n, set := c.namespaceOf(e.Namespace), c.tokenSetOf(&e.Candidate)
	q := n.queues[set]
	if q == nil {
		q = &queue{namespace: n, tokenSet: set, served: c.nextSerial(), nodes: newRoundRobin()}
		n.queues[set] = q
	}
	c.queued++
	e.queue = q
	q.nodes.set(e)
	q.place()
}

// namespaceOf returns the namespace of that name, or a new one.
func (c *Core) namespaceOf(name string) *namespace {
	n := c.namespaces[name]
	if n == nil {
		n = &namespace{name: name, queues: map[*tokenSet]*queue{}, served: c.nextSerial()}
		c.namespaces[name] = n
	}
	return n
}

// dequeue removes a candidate from its queue, and the queue once empty.
func (c *Core) dequeue(e *entry) {
	q := e.queue
	q.nodes.remove(e)
	c.queued--
	e.queue = nil
	if !q.nodes.empty() {
		q.place()
		return
	}
	delete(q.namespace.queues, q.tokenSet)
	q.tokenSet.queues.Remove(q)
	c.dropTokenSet(q.tokenSet)
	c.forgetIdle(q.namespace)
}

// place updates the turns of the queues that rule 2 orders, after a call of the namespace has started or ended.
func (n *namespace) place() {
	for set, q := range n.queues {
		if !set.rated {
			q.place()
		}
	}
}

func (c *Core) forgetIdle(n *namespace) {
	if n.calls == 0 && len(n.queues) == 0 {
		delete(c.namespaces, n.name)
	}
}
