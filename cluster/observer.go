package cluster

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/guard"
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
}

// observerOf returns the observer for a handler.
func observerOf(h Handler) observer {
	o, _ := h.(NodeObserver)
	return observer{NodeObserver: o}
}

// update passes on the change of one node. A nil model means that it is gone.
func (o *observer) update(name string, l *nodeModel) {
	if o.nodes == nil {
		return
	}
	if c, changed := o.change(name, l); changed {
		o.NodesChanged([]guard.NodeChange{c})
	}
}

// list passes on what a list shows. needed reports whether breakers are needed.
func (o *observer) list(items []any, modelIn func(item any) (nodeModel, bool), needed bool) {
	if o.NodeObserver == nil || !needed {
		o.nodes = nil
		return
	}
	first := o.nodes == nil
	if first {
		o.nodes = make(map[string]*guard.Node, len(items))
	}
	if changes := o.changes(items, modelIn); first || len(changes) > 0 {
		o.NodesChanged(changes)
	}
	if first {
		o.NodesSynced()
	}
}

// changes returns the changes in a list.
func (o *observer) changes(items []any, modelIn func(item any) (nodeModel, bool)) (changes []guard.NodeChange) {
	listed := make(map[string]bool, len(items))
	for _, item := range items {
		l, ok := modelIn(item)
		if !ok {
			continue
		}
		listed[l.name] = true
		if c, changed := o.change(l.name, &l); changed {
			changes = append(changes, c)
		}
	}
	for name := range o.nodes {
		if !listed[name] {
			c, _ := o.change(name, nil)
			changes = append(changes, c)
		}
	}
	return changes
}

// change stores the present state of a node, and reports whether it has changed.
func (o *observer) change(name string, l *nodeModel) (guard.NodeChange, bool) {
	old := o.nodes[name]
	if l == nil {
		delete(o.nodes, name)
		return guard.NodeChange{Name: name}, old != nil
	}
	if old != nil && old.UID == l.uid && maps.Equal(old.Labels, l.labels) &&
		slices.EqualFunc(old.Taints, l.taints, sameTaint) {
		return guard.NodeChange{}, false
	}
	n := &guard.Node{Name: name, UID: l.uid, Labels: l.labels, Taints: slices.Clone(l.taints)}
	o.nodes[name] = n
	return guard.NodeChange{Name: name, Node: n}, true
}

// sameTaint reports whether two taints are equal, except when they were added.
func sameTaint(a, b v1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}
