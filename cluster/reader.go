package cluster

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// podReader reads pods: those that are kept here, or a caller's. Any number of goroutines may use it.
type podReader interface {
	get(uid types.UID) *taint.Pod
	on(node string) []*taint.Pod
	setAhead(ahead Ahead)
}

// reader reads pods and nodes. Its methods may be called by any number of goroutines.
type reader struct {
	pods  podReader
	nodes *nodes
}

// Pod returns the pod with this UID and the node that it is bound to; each is nil when it is not there.
func (r *reader) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	p := r.pods.get(uid)
	if p == nil {
		return nil, nil
	}
	return p, r.nodes.get(p.Node)
}

// PodsOn returns the node of this name, nil when it is not there, and the pods bound to it, in no order.
func (r *reader) PodsOn(node string) (*taint.Node, []*taint.Pod) {
	return r.nodes.get(node), r.pods.on(node)
}

// Version is the resourceVersion of the last look at a tainted node; empty when there is no such node.
func (r *reader) Version(node string) string { return r.nodes.version(node) }

// Tainted returns the nodes that carry NoExecute taints, in no order.
func (r *reader) Tainted() []*taint.Node { return r.nodes.taintedNodes() }

// Adopt betters what is known of a node by the journal's record of it; see [journal.NodeHistory.Adopt]. It says
// whether that changes anything; the handler is not told.
func (r *reader) Adopt(node string, record journal.Record) bool {
	return r.nodes.adopt(node, record)
}
