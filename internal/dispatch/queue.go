package dispatch

import "time"

// namespace has what rules 2 and 3 need to know of a namespace. It exists while it has candidates or calls.
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

	// The order among the idle queues of its token set, stored here because 10,000 of them miss the processor's caches.
	rank uint64
	pos  int // among the idle queues of its token set
}

// before reports whether this queue comes before another one. Queues with rates share tokens in turn; otherwise rule 2
// decides.
func (q *queue) before(other *queue) bool {
	if q.tokenSet.rated && other.tokenSet.rated {
		return q.servedBefore(other)
	}
	return q.byRuleTwo(other)
}

// byRuleTwo reports whether rule 2 prefers this queue.
func (q *queue) byRuleTwo(other *queue) bool {
	if i, j := q.namespace.calls, other.namespace.calls; i != j {
		return i < j
	}
	if i, j := q.repeats(), other.repeats(); i != j {
		return j
	}
	return q.servedBefore(other)
}

// servedBefore reports whether the queue's namespace was served longer ago. In a namespace, first attempts precede
// repeats, then queues take turns.
func (q *queue) servedBefore(other *queue) bool {
	if q.namespace != other.namespace {
		return q.namespace.served < other.namespace.served
	}
	if i, j := q.repeats(), other.repeats(); i != j {
		return j
	}
	return q.served < other.served
}

// repeats reports whether the next candidate of the queue was called before.
func (q *queue) repeats() bool { return q.nodes.peek().Requests[0].Attempt > 1 }

// place moves the queue to its place in its token set, after its first candidate or its namespace's calls have changed.
func (q *queue) place() {
	if q.namespace.calls > 0 {
		q.tokenSet.idle.Remove(q)
		q.tokenSet.busy[q] = true
		return
	}
	delete(q.tokenSet.busy, q)
	q.rank = q.namespace.served
	if !q.tokenSet.rated && q.repeats() {
		q.rank |= 1 << 63
	}
	q.tokenSet.idle.Set(q)
}

// add adds a candidate: to its queue, or to the own pods.
func (c *Core) add(e *entry) {
	if e.Own != Other {
		c.own.wait(e)
		return
	}
	c.enqueue(e)
}

// remove removes a candidate, whether or not its call starts now.
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
	delete(q.tokenSet.busy, q)
	q.tokenSet.idle.Remove(q)
	c.dropTokenSet(q.tokenSet)
	c.forgetIdle(q.namespace)
}

// countCall adds to the calls of a namespace, and moves its queues if it had no calls, or has none now.
func (c *Core) countCall(n *namespace, by int) {
	n.calls += by
	if n.calls == 0 || n.calls == by {
		for _, q := range n.queues {
			q.place()
		}
	}
	c.forgetIdle(n)
}

func (c *Core) forgetIdle(n *namespace) {
	if n.calls == 0 && len(n.queues) == 0 {
		delete(c.namespaces, n.name)
	}
}
