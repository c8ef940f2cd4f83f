package shard

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Input is one thing that happens to a shard: NodeChanged, PodChanged, Permitted, SlowChanged, Ended,
// RatesChanged or Reconfigured.
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

	// Take takes the tokens of the call that starts; see [Permit]. Nil: there are no rates.
	Take func(taintKey string, nodeLabels map[string]string) guard.Wait
}

// take takes the tokens of a call.
func (p *Permitted) take(a *policy.Action, node *taint.Node) guard.Wait {
	if p.Take == nil {
		return guard.Wait{}
	}
	return p.Take(a.Taint.Key, node.Labels)
}

// RatesChanged reports that what waits for a rate may try again: a call has given tokens back, or the rates have
// changed.
type RatesChanged struct{}

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
func (RatesChanged) input() {}
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
