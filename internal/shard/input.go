package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// Input is one thing that happens to a shard: NodeChanged, PodChanged or TimePassed.
type Input interface {
	apply(c *Core, now time.Time, effects *Effects)
}

// NodeChanged reports that a node, or the history of its taints, has changed.
type NodeChanged struct{ Name string }

// PodChanged reports that a pod has changed, is new, or is gone, or that a call for the pod has ended.
type PodChanged struct{ UID types.UID }

// TimePassed reports that the time of [Core.Next] has come. It judges one pod.
type TimePassed struct{}

// Holding says that a policy holds more pods than before, or fewer.
type Holding struct {
	Policy string
	Pods   int // the difference
}

// Effects are the results of a step, in addition to its calls to the dispatcher.
type Effects struct {
	// Notes are the notes to report, in order.
	Notes []eviction.Note

	// Overtaken are the waiting evictions whose pods another client is deleting.
	Overtaken []eviction.Overtaken

	// Holds are the changes of how many pods policies hold, in order.
	Holds []Holding

	// Drained are the nodes whose last pod that had to leave is gone, except after an outage of the node.
	Drained []string
}
