package shard

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// Input is one thing that happens to a shard: NodeChanged, PodChanged, Permitted, SlowChanged or Ended.
type Input interface{ input() }

// NodeChanged says that a node, or what is known of it, is another than before.
type NodeChanged struct{ Name string }

// PodChanged says that a pod is another than before, new, or gone.
type PodChanged struct{ UID types.UID }

// Permitted says that one eviction call may start now, in a slot or in a slow place. Pods of the slow
// workloads start in slow places only, all others in slots.
type Permitted struct {
	Slow      SlowWorkloads
	SlowPlace bool
}

// SlowChanged says that other workloads are slow than before.
type SlowChanged struct{ Slow SlowWorkloads }

// Ended says what an eviction call has come to.
type Ended struct {
	UID     types.UID
	Outcome eviction.Outcome
}

func (NodeChanged) input() {}
func (PodChanged) input()  {}
func (Permitted) input()   {}
func (SlowChanged) input() {}
func (Ended) input()       {}

// Effects is what is to be done after a step.
type Effects struct {
	// Start is the call to start with the permit; nil after Permitted means that nothing is due any
	// more, and the permit is to be released.
	Start *eviction.Request

	// Notes are what people are to be told, in order.
	Notes []eviction.Note
}
