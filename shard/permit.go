package shard

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/taint"
)

// Reader is the cache that a shard judges by. It returns the latest state that is known, may be called by any
// number of goroutines, and what it returns is immutable.
type Reader interface {
	// Pod returns the pod with this UID and the node that it is bound to; each is nil if it does
	// not exist.
	Pod(uid types.UID) (*taint.Pod, *taint.Node)

	// PodsOn returns the node of this name, nil if it does not exist, and the pods bound to it.
	PodsOn(node string) (*taint.Node, []*taint.Pod)
}

// Permit is the permission to start one eviction call. Its holder calls exactly one of Start and Release, once; no
// method blocks.
type Permit interface {
	// Take takes a token of each rate that counts an eviction because of this taint on a node with these labels. If one
	// has none, Take takes none and returns the wait; it may be called again for another pod. The tokens of the
	// last Take go with the call, or back with Release.
	Take(taintKey string, nodeLabels map[string]string) guard.Wait

	// Start begins the call. done is called exactly once, by another goroutine, when the call has
	// ended and its slot is free again.
	Start(e eviction.Request, done func(eviction.Outcome))

	// Release gives the permit back unused.
	Release()
}
