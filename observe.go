package taintmanager

import "github.com/taint-manager/taint-manager/internal/guard"

// observer forwards changes of nodes and namespaces to the tracker of holds. The shards have the judge that follows
// before the cache has the nodes, so no shard judges a node that breakers have not seen.
type observer struct {
	holds *guard.Tracker

	// last is the last batch of changes. Only the goroutine of the nodes uses it.
	last []guard.NodeChange
}

// NodesChanged implements [cluster.NodeObserver].
func (o *observer) NodesChanged(changes []guard.NodeChange) {
	o.last = changes
	o.holds.Put(guard.NodesChanged{Changes: changes})
}

// NodesSynced implements [cluster.NodeObserver]. The last batch has all nodes.
func (o *observer) NodesSynced() {
	o.holds.Put(guard.NodesListed{Nodes: o.last})
	o.last = nil
}

// NamespacesChanged implements [cluster.NamespaceObserver].
func (o *observer) NamespacesChanged() { o.holds.Put(guard.NamespacesChanged{}) }
