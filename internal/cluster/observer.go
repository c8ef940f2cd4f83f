package cluster

import "github.com/taint-manager/taint-manager/internal/guard"

// NodeObserver is an optional interface of a [Handler].
type NodeObserver interface {
	// NodesChanged is called with the nodes of each list, of which all is true, and with each node that an event shows,
	// even if the node has not changed. The goroutine that calls NodeChanged calls it before NodeChanged, and only while
	// breakers are needed. The first call has all nodes.
	NodesChanged(changes []guard.NodeChange, all bool)
}

// ListObserver is an optional interface of a [Handler].
type ListObserver interface {
	// NodesListed is called by the goroutine that calls NodeChanged, after a list of all nodes was taken in.
	NodesListed()
}

// observer passes nodes on to breakers. Only the reflector's goroutine uses it.
type observer struct {
	NodeObserver // nil: none

	listed bool // the last list was passed on
}

// observerOf returns the observer for a handler.
func observerOf(h Handler) observer {
	o, _ := h.(NodeObserver)
	return observer{NodeObserver: o}
}

// list passes a list of all nodes on, if breakers are needed.
func (o *observer) list(all []nodeModel, needed bool) {
	if o.listed = o.NodeObserver != nil && needed; !o.listed {
		return
	}
	changes := make([]guard.NodeChange, len(all))
	for i := range all {
		changes[i] = guard.NodeChange{Name: all[i].Name, Node: new(all[i].Node)}
	}
	o.NodesChanged(changes, true)
}

// event passes on what an event shows; nil means that the node is gone.
func (o *observer) event(name string, now *guard.Node) {
	if !o.listed {
		return
	}
	change := guard.NodeChange{Name: name}
	if now != nil {
		change.Node = new(*now)
	}
	o.NodesChanged([]guard.NodeChange{change}, false)
}
