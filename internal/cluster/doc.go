// Package cluster is the cache of pods and nodes, as the small values of package taint.
//
// A [Watcher] keeps the cache up to date. A watcher from [Watch] lists and watches pods and nodes itself, and trims
// each object when it arrives. A watcher from [Adapt] watches only nodes, and takes pods from a caller's informer. Any
// number of goroutines may read (Pod, PodsOn); what they read is immutable. The watcher calls a [Handler] after every
// change that may change a verdict, but not for heartbeats of nodes and status updates of pods. The calls hold no lock
// that readers take, so a Handler may read, but must not block.
//
// Memory per pod is bounded, whatever its owner writes into it, except that tolerations that may match an evicting
// taint are stored in full. No lock that readers take is held for a time that grows with the size of a pod. Labels of
// pods, nodes and namespaces, and triggers are stored only while [Watcher.Need] asks for them.
//
// The cache has the pods that are bound to a node and have not finished. A pod is identified by its UID. Its Bound is
// fixed when the pod is first seen: the moment of its event or, for a pod of the very first list, the result of
// [BoundSince]. Package journal computes the histories of a node's taints from all events of the node in order, so a
// taint that is removed and set again is a new taint.
//
// Malformed objects are ignored or stored unchanged, with at most one line in the log a minute for each kind. No object
// makes this package panic.
package cluster

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/breaker"
)

// Handler is called after changes, once the reader shows them, by the goroutines that watch and by ApplyRecord. It must
// not block. Calls for events of nodes come one after the other, in the order of the events; so do those for pods.
type Handler interface {
	// NodeChanged is called when the NoExecute taints or the triggers of the node with this name, or their starts, have
	// changed, when another node has taken the name, or when a tainted node was deleted. While policies need labels of
	// nodes, it is also called when the labels of a tainted node have changed. The verdicts of the node's pods must be
	// computed again.
	NodeChanged(name string)

	// PodChanged is called when the pod has appeared on the node or has left it, or when something else that its
	// verdict depends on has changed. For a pod that moves it is called for both nodes. It is not called for pods of
	// the first list: NodeChanged is called for each tainted node, and verdicts are computed once both lists are
	// complete.
	PodChanged(uid types.UID, node string)

	// NodesChanged is called with all nodes of each list (then the argument all is true), and with each node that an
	// event shows, even an unchanged node. It is called only while breakers are needed, and before the reader shows the
	// nodes. The first call has all nodes.
	NodesChanged(changes []breaker.NodeChange, all bool)

	// RecordChanged is called when the journal's record of the node with this name may have changed, for instance
	// because the node was deleted.
	RecordChanged(name string)

	// NamespacesChanged is called when labels of namespaces have changed, and when namespaces have appeared or are
	// gone. The verdicts of all pods must be computed again, with [Watcher.Namespaces]. Changes within a tenth of a
	// second lead to one call, from a separate goroutine.
	NamespacesChanged()
}
