package shard

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
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

// Permit is the permission to start one eviction call. Its holder calls exactly one of its methods,
// once; neither blocks.
type Permit interface {
	// Start begins the call. done is called exactly once, by another goroutine, when the call has
	// ended and its slot is free again.
	Start(e eviction.Request, done func(eviction.Outcome))

	// Release gives the permit back unused.
	Release()
}
