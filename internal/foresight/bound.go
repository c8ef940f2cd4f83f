package foresight

import (
	"slices"

	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// BoundPod is a pod that is bound to a selected node and is not to be evicted.
type BoundPod struct {
	PodRef
	Standing Standing
}

// Standing says why a pod is on its node.
type Standing string

// The standings of pods that no taint evicts, or that no taint can evict any longer.
const (
	Orphaned    Standing = "orphaned"    // its node does not exist
	Terminating Standing = "terminating" // it is being deleted, for whatever reason
	Finished    Standing = "finished"
	Kept        Standing = "kept" // it has finished, and has a finalizer
	Mirror      Standing = "mirror"
	OfDaemonSet Standing = "DaemonSet"
	Tolerating  Standing = "tolerating"
	Unaffected  Standing = "unaffected" // because of policies, or because no taint may evict it
)

// standing returns the standing of a pod that is not evicted according to this verdict.
func (m *Model) standing(p *pod, v *policy.Verdict) Standing {
	switch {
	case m.nodes[p.Node] == nil:
		return Orphaned
	case p.Terminating:
		return Terminating
	case slices.ContainsFunc(p.finalizers, cluster.Keeps):
		return Kept
	case p.finished():
		return Finished
	case p.Mirror:
		return Mirror
	case p.Daemon:
		return OfDaemonSet
	case v.First().Stay == taint.Tolerated && !v.IgnoresTaint:
		return Tolerating
	}
	return Unaffected
}

// Bound returns the names of the pods with this standing.
func (p *Pending) Bound(s Standing) []string {
	return slices.Sorted(slices.Values(namesOf(p.Others, func(b *BoundPod) bool { return b.Standing == s })))
}
