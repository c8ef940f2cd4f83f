package cluster

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// reader reads pods and nodes. Any number of goroutines may call its methods.
type reader struct {
	pods  *pods
	nodes *nodes
	needs *atomic.Pointer[needs] // the latest ones
}

// newReader returns the reader of an empty cache. synced reports whether all existing pods are known.
func newReader(rules taint.Rules, synced func() bool) reader {
	p := newPods(newNeeds())
	return reader{p, newNodes(rules, p.on, synced), newNeeds()}
}

// SetAhead sets the function by which ages that come from times of the API are shortened. It must be called before Run,
// or before anything is put in.
func (r *reader) SetAhead(ahead Ahead) { r.pods.ahead, r.nodes.ahead = ahead, ahead }

// Pod returns the pod with this UID and the node that it is bound to; each is nil if unknown. The pod has the
// tolerations that count for a taint of that node.
func (r *reader) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	e := r.pods.get(uid)
	if e == nil {
		return nil, nil
	}
	node := r.nodes.get(e.Node)
	return e.on(node), node
}

// PodsOn returns the node with this name, or nil if unknown, and the pods bound to it, in no particular order. The pods
// are as those of Pod.
func (r *reader) PodsOn(node string) (*taint.Node, []*taint.Pod) {
	n, entries := r.nodes.get(node), r.pods.on(node)
	taints, list := taintsOf(n), make([]*taint.Pod, len(entries))
	for i, e := range entries {
		list[i] = e.against(taints)
	}
	return n, list
}

// SetRules replaces the rules of verdicts. Some states of a taint may have been joined by the rules before, and stay
// so.
func (r *reader) SetRules(rules taint.Rules) { r.nodes.rules.Store(&rules) }

// Version returns the resourceVersion of the last observation of a tainted node; "" if there is no such node.
func (r *reader) Version(node string) string { return r.nodes.version(node) }

// Tainted returns the nodes that carry NoExecute taints, in no particular order.
func (r *reader) Tainted() []*taint.Node { return r.nodes.taintedNodes() }

// Reached returns the resourceVersion up to which all changes of nodes are known: of the last list, event or bookmark;
// "" before the first list.
func (r *reader) Reached() string {
	r.nodes.mu.RLock()
	defer r.nodes.mu.RUnlock()
	return r.nodes.reached
}

// Adopt merges the journal's record of a node into its history, and reports whether that changes anything; see
// [journal.NodeHistory.Adopt]. It does not call the handler.
func (r *reader) Adopt(node string, record journal.Record) bool {
	return r.nodes.adopt(node, record)
}
