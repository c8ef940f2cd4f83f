package cluster

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
)

// NodeObserver is an optional interface of a [Handler]. Its methods are called by the goroutine that calls NodeChanged,
// before it, and only while breakers are needed.
type NodeObserver interface {
	// NodesChanged is called when the labels or the taints (of any effect) of nodes have changed, and when nodes have
	// appeared, were replaced or are gone. Changes that a list shows are one batch. The first batch has all nodes;
	// it is empty if there are none.
	NodesChanged(changes []guard.NodeChange)

	// NodesSynced is called after the first batch. It is called once, and again only if breakers were not needed in the
	// meantime: then the first batch has all nodes again, but not those that are gone.
	NodesSynced()
}

// ListObserver is an optional interface of a [Handler].
type ListObserver interface {
	// NodesListed is called by the goroutine that calls NodeChanged, after a list of all nodes was taken in.
	NodesListed()
}

// observer passes changes of nodes on to breakers. Only the reflector's goroutine uses it.
type observer struct {
	NodeObserver // nil: none

	// nodes are those passed on; nil while breakers are not needed.
	nodes map[string]*guard.Node

	batch []guard.NodeChange // not passed on yet
	first bool               // the batch is the first one
}

// observerOf returns the observer for a handler.
func observerOf(h Handler) observer {
	o, _ := h.(NodeObserver)
	return observer{NodeObserver: o}
}

// beginList begins a list of all nodes. needed reports whether breakers are needed.
func (o *observer) beginList(needed bool) {
	switch {
	case o.NodeObserver == nil || !needed:
		o.nodes = nil
	case o.nodes == nil:
		o.nodes, o.first = map[string]*guard.Node{}, true
	}
}

// add adds a node to the batch if it has changed. Nil means that the node is gone.
func (o *observer) add(name string, now *guard.Node) {
	old := o.nodes[name]
	switch {
	case o.nodes == nil || old == nil && now == nil:
		return
	case now == nil:
		delete(o.nodes, name)
	case old != nil && old.UID == now.UID && maps.Equal(old.Labels, now.Labels) &&
		slices.EqualFunc(old.Taints, now.Taints, sameTaint):
		return
	default:
		o.nodes[name] = new(*now)
	}
	o.batch = append(o.batch, guard.NodeChange{Name: name, Node: o.nodes[name]})
}

// pass passes the batch on.
func (o *observer) pass() {
	if o.first || len(o.batch) > 0 {
		o.NodesChanged(o.batch)
		o.batch = nil
	}
	if o.first {
		o.first = false
		o.NodesSynced()
	}
}

// sameTaint reports whether two taints are equal, except when they were added.
func sameTaint(a, b v1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}
