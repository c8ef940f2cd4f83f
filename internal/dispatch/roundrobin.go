package dispatch

import (
	"cmp"
	"container/list"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

// inARow is the number of candidates of a node that are served before the next node's turn. The call for the first
// reads the node, and that read serves the others.
const inARow = 8

// turns holds the candidates of one line and lets their nodes take turns. Nodes that were not served yet, newcomers,
// alternate with regulars, so that a single pod waits for newcomers at most.
type turns struct {
	nodes               map[string]*nodeLine
	newcomers, regulars list.List // of *nodeLine; a list.List is ready when zero
	served              int       // how many candidates of the first regular were served in a row
	regularServedLast   bool      // else a newcomer
}

// nodeLine holds the candidates of one node; it is not empty.
type nodeLine struct {
	waiting ordered.Queue[*item]
	element *list.Element
	regular bool
}

func newTurns() *turns { return &turns{nodes: map[string]*nodeLine{}} }

func (t *turns) empty() bool { return len(t.nodes) == 0 }

// compare is the order of the candidates of a node.
func compare(a, b *item) int {
	return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.UID, b.UID))
}

func before(a, b *item) bool { return compare(a, b) < 0 }

// set adds a candidate, or moves it after its order has changed.
func (t *turns) set(it *item) {
	node := t.nodes[it.Node]
	if node == nil {
		node = &nodeLine{waiting: ordered.New(before, func(it *item) *int { return &it.pos })}
		node.element = t.newcomers.PushBack(node)
		t.nodes[it.Node] = node
	}
	node.waiting.Set(it)
}

// remove removes a candidate, and its node with the last of them.
func (t *turns) remove(it *item) {
	node := t.nodes[it.Node]
	node.waiting.Remove(it)
	if node.waiting.Len() > 0 {
		return
	}
	delete(t.nodes, it.Node)
	if !node.regular {
		t.newcomers.Remove(node.element)
		return
	}
	if t.regulars.Front() == node.element {
		t.served = 0
	}
	t.regulars.Remove(node.element)
}

// peek returns the candidate whose turn it is. There must be a candidate.
func (t *turns) peek() *item {
	it, _ := t.nextNode().waiting.First()
	return it
}

// nextNode returns the node whose turn it is.
func (t *turns) nextNode() *nodeLine {
	newcomer, regular := t.newcomers.Front(), t.regulars.Front()
	if newcomer != nil && (t.regularServedLast || regular == nil) {
		return newcomer.Value.(*nodeLine)
	}
	return regular.Value.(*nodeLine)
}

// serve moves the node whose turn it is to its new place. The candidate of [turns.peek] is to be removed then.
func (t *turns) serve() {
	node := t.nextNode()
	t.regularServedLast = node.regular
	if !node.regular {
		t.newcomers.Remove(node.element)
		node.regular, node.element = true, t.regulars.PushBack(node)
		return
	}
	if t.served++; t.served == inARow {
		t.served = 0
		t.regulars.MoveToBack(node.element)
	}
}
