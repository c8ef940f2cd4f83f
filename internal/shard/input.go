package shard

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
)

// Input is one thing that happens to a shard: NodeChanged, PodChanged, TimePassed, CallEnded or Reconfigured.
type Input interface{ input() }

// NodeChanged reports that a node, or the history of its taints, has changed.
type NodeChanged struct{ Name string }

// PodChanged reports that a pod has changed, is new, or is gone.
type PodChanged struct{ UID types.UID }

// TimePassed reports that the time of [Core.Next] has come. It judges one pod.
type TimePassed struct{}

// CallEnded reports a call that has ended.
type CallEnded struct{ dispatch.Ended }

// Reconfigured replaces the judge of all further verdicts. It judges no pod: the nodes whose pods may have another
// verdict follow as NodeChanged.
type Reconfigured struct{ Judge policy.Judge }

func (NodeChanged) input()  {}
func (PodChanged) input()   {}
func (TimePassed) input()   {}
func (CallEnded) input()    {}
func (Reconfigured) input() {}

// Effects is what follows from a step, beside what the dispatcher is told.
type Effects struct {
	// Notes are the notes to report, in order.
	Notes []eviction.Note

	// Overtaken are the waiting evictions whose pods another client deletes or has marked.
	Overtaken []eviction.Overtaken

	// Drained are the nodes whose last pod that had to go is gone, except after an outage of the node.
	Drained []string
}
