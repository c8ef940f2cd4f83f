package dispatch

import (
	"cmp"
	"container/list"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

// perTurn is how many candidates of a node go in one turn. One GET of the node confirms all of them. It is sent while
// the turn before runs, so that no call waits for it.
const perTurn = 32

// roundRobin holds the candidates of one queue and lets their nodes take turns. Nodes that were not served yet
// (newcomers) alternate with the others (regulars), so that a node with one pod does not wait for all regulars.
type roundRobin struct {
	nodes               map[string]*nodeQueue
	newcomers, regulars list.List // of *nodeQueue; a zero list.List is ready to use
	regularServedLast   bool      // otherwise a newcomer was served last
}

// nodeQueue holds the candidates of one node; it is not empty.
type nodeQueue struct {
	waiting   ordered.Queue[*entry]
	element   *list.Element
	regular   bool
	announced bool // since its last turn
	served    int  // in its present turn
}

func newRoundRobin() *roundRobin { return &roundRobin{nodes: map[string]*nodeQueue{}} }

func (r *roundRobin) empty() bool { return len(r.nodes) == 0 }

// compare is the order of the candidates of a node.
func compare(a, b *entry) int {
	return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.UID, b.UID))
}

func before(a, b *entry) bool { return compare(a, b) < 0 }

// set adds a candidate, or moves it after its order has changed.
func (r *roundRobin) set(e *entry) {
	node := r.nodes[e.Node]
	if node == nil {
		node = &nodeQueue{waiting: ordered.New(before, func(e *entry) *int { return &e.pos })}
		node.element = r.newcomers.PushBack(node)
		r.nodes[e.Node] = node
	}
	node.waiting.Set(e)
}

// remove removes a candidate, and its node once empty.
func (r *roundRobin) remove(e *entry) {
	node := r.nodes[e.Node]
	node.waiting.Remove(e)
	if node.waiting.Len() > 0 {
		return
	}
	delete(r.nodes, e.Node)
	if node.regular {
		r.regulars.Remove(node.element)
	} else {
		r.newcomers.Remove(node.element)
	}
}

// peek returns the next candidate. There must be one.
func (r *roundRobin) peek() *entry {
	e, _ := r.nextNode().waiting.First()
	return e
}

// nextNode returns the node whose turn it is.
func (r *roundRobin) nextNode() *nodeQueue {
	newcomer, regular := r.newcomers.Front(), r.regulars.Front()
	if newcomer != nil && (r.regularServedLast || regular == nil) {
		return newcomer.Value.(*nodeQueue)
	}
	return regular.Value.(*nodeQueue)
}

// serve moves the node whose turn it is to its new place. The caller must then remove the candidate that peek returned.
// It returns the node whose turn is next, once before each turn; "" if there is none.
func (r *roundRobin) serve() (next string) {
	node := r.nextNode()
	r.regularServedLast = node.regular
	if !node.regular {
		r.newcomers.Remove(node.element)
		node.regular, node.element = true, r.regulars.PushBack(node)
		return announce(r.newcomers.Front())
	}
	if node.served++; node.served == perTurn {
		node.served, node.announced = 0, false
		r.regulars.MoveToBack(node.element)
	}
	return announce(r.regulars.Front().Next())
}

// announce returns the name of a node unless it was announced before its present turn.
func announce(e *list.Element) string {
	if e == nil {
		return ""
	}
	node := e.Value.(*nodeQueue)
	if node.announced {
		return ""
	}
	node.announced = node.regular
	first, _ := node.waiting.First()
	return first.Node
}
