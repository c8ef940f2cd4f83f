package taintmanager

import (
	"context"

	"github.com/taint-manager/taint-manager/internal/guard"
)

// observer forwards changes of nodes and namespaces to the tracker of holds.
type observer struct {
	holds *guard.Tracker

	// last is the last batch of changes. Only the goroutine of the nodes uses it.
	last []guard.NodeChange
}

// NodesChanged implements [cluster.NodeObserver].
func (o *observer) NodesChanged(changes []guard.NodeChange) {
	o.last = changes
	o.pass(guard.NodesChanged{Changes: changes})
}

// NodesSynced implements [cluster.NodeObserver]. The last batch has all nodes.
func (o *observer) NodesSynced() {
	o.pass(guard.NodesListed{Nodes: o.last})
	o.last = nil
}

// pass passes an input to the tracker, and blocks until the shards have the judge that follows from it: the cache has
// the nodes afterwards, so no shard judges a node that breakers have not seen. The tracker waits for nobody. It fails
// only once Run has ended.
func (o *observer) pass(in guard.Input) { _ = o.holds.Do(context.Background(), in) }

// NamespacesChanged implements [cluster.NamespaceObserver].
func (o *observer) NamespacesChanged() {
	o.holds.Put(guard.NamespacesChanged{})
}
