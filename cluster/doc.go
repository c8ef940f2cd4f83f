// Package cluster keeps what the rest of the program sees of the cluster: pods and nodes as the small
// values of package taint.
//
// A [Watcher] knows them. Made by [Watch], it watches by itself, decodes of protobuf only the fields that count
// (package wire), and keeps trimmed values only. Made by [Adapt], it does so for nodes, and reads pods from an
// informer that a caller has already. Either way it is a reader (Pod, PodsOn), which may be called by any
// number of goroutines and returns immutable values, and tells a [Handler] of every change that may change a
// verdict. Heartbeats of nodes and status updates of pods tell it nothing, and cost next to nothing.
//
// A pod is kept while it is bound to a node and has not finished; it is identified by its UID. Its
// Bound is fixed when it is first seen: the moment of its event or, for a pod of the very first list,
// what [BoundSince] reads from the API. A node's histories are those of package journal, which looks
// at every event of the node in order, so that a taint that is lifted and set again is a new one.
//
// Malformed objects are passed over or kept as they are, with at most one line in the log each; none
// makes this package panic.
package cluster

import "k8s.io/apimachinery/pkg/types"

// Handler is told what has changed, once the reader shows it. It is called by the goroutines that
// watch, so it must not block. The calls about nodes come one after the other, in the order of the
// events, and so do those about pods.
type Handler interface {
	// NodeChanged says that the NoExecute taints of the node of this name are not what they were,
	// that another node bears the name, or that a tainted node is gone. Its pods are to be judged.
	NodeChanged(name string)

	// PodChanged says that the pod has appeared or is gone from node, or that something else a
	// verdict rests on has changed. A pod that moves is told for both nodes.
	PodChanged(uid types.UID, node string)
}
