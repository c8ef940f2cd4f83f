// Package cluster is the cache of pods and nodes, as the small values of package taint.
//
// A [Watcher] keeps the cache up to date. A watcher from [Watch] lists and watches pods and nodes itself, and stores small
// values only: each object is trimmed as soon as it comes. A watcher from [Adapt] does so for nodes, and takes pods from a caller's informer into the same cache. Both
// are readers (Pod, PodsOn): any number of goroutines may call them, and they return immutable values. Both call a
// [Handler] after every change that may change a verdict. Heartbeats of nodes and status updates of pods do not call
// it, and cost next to nothing.
//
// What a pod costs is bounded, whatever its owner writes into it, except for tolerations that may match a taint that
// evicts: they cost what they cost in the API server. No lock that readers take is held for a time that grows with a
// pod.
//
// Labels of pods, of nodes and of namespaces, triggers, and the nodes for breakers are stored only while [Watcher.Need]
// asks for them. A handler may also be a [NodeObserver] and a [NamespaceObserver].
//
// The cache has the pods that are bound to a node and have not finished. A pod is identified by its UID. Its Bound is
// fixed when the pod is first seen: the moment of its event or, for a pod of the very first list, the result of
// [BoundSince]. Package journal provides a node's histories. It receives every event of the node in order, so a taint that is removed and set
// again is a new one.
//
// Malformed objects are ignored or stored unchanged, with at most one line in the log a minute for each kind. No object
// makes this package panic.
package cluster

import "k8s.io/apimachinery/pkg/types"

// Handler is called after changes, once the reader shows them. The goroutines that watch call it, so it must not block.
// The calls about nodes come one after the other, in the order of the events, and so do those about pods.
type Handler interface {
	// NodeChanged is called when the NoExecute taints or the triggers of the node with this name have changed, when
	// another node has taken the name, or when a tainted node was deleted; and, while policies need labels of nodes,
	// when the labels of a tainted node have changed. The verdicts of its pods must be computed again.
	NodeChanged(name string)

	// PodChanged is called when the pod has appeared on node or is gone from it, or when something else that its
	// verdict depends on has changed. For a pod that moves it is called for both nodes.
	PodChanged(uid types.UID, node string)
}
