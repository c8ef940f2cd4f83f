package shard

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// Input is one thing that happens to a shard: NodeChanged, PodChanged, Permitted, SlowChanged, Ended or
// Reconfigured.
type Input interface{ input() }

// NodeChanged reports that a node, or the history of its taints, has changed.
type NodeChanged struct{ Name string }

// PodChanged reports that a pod has changed, is new, or is gone.
type PodChanged struct{ UID types.UID }

// Permitted reports that one eviction call may start now, in a slot or in a slow place. Pods of the slow
// workloads start in slow places only, all others in slots.
type Permitted struct {
	Slow      SlowWorkloads
	SlowPlace bool
}

// SlowChanged reports that the set of slow workloads has changed.
type SlowChanged struct{ Slow SlowWorkloads }

// Ended reports the outcome of an eviction call.
type Ended struct {
	UID     types.UID
	Outcome eviction.Outcome
}

// Reconfigured replaces the judge of all further verdicts. It judges no pod: the nodes whose pods may have another
// verdict follow as NodeChanged.
type Reconfigured struct{ Judge policy.Judge }

func (NodeChanged) input()  {}
func (PodChanged) input()   {}
func (Permitted) input()    {}
func (SlowChanged) input()  {}
func (Ended) input()        {}
func (Reconfigured) input() {}

// Effects is what follows from a step.
type Effects struct {
	// Start is the call to start with the permit; nil after Permitted means that nothing is
	// due, and the permit is to be released.
	Start *eviction.Request

	// Notes are the notes to report, in order.
	Notes []eviction.Note

	// Overtaken are the waiting evictions whose pods another client deletes or has marked.
	Overtaken []eviction.Overtaken
}
