package cluster

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// reader reads pods and nodes. Any number of goroutines may call its methods.
type reader struct {
	*nodes
	pods  *pods
	needs *atomic.Pointer[needs] // the latest ones
}

// newReader returns the reader of an empty cache. synced reports whether all existing pods are known.
func newReader(rules taint.Rules, synced func() bool) reader {
	p := newPods(newNeeds())
	return reader{newNodes(rules, p.on, synced), p, newNeeds()}
}

// SetAhead sets how far this process's clock is ahead of the API server's. It must be called before Run, or before any
// object is added.
func (r *reader) SetAhead(ahead skew.Ahead) { r.pods.ahead, r.ahead = ahead, ahead }

// Pod returns the pod with this UID and the node that it is bound to; each is nil if unknown. The pod has the
// tolerations that count for a taint of that node.
func (r *reader) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	e := r.pods.get(uid)
	if e == nil {
		return nil, nil
	}
	node := r.get(e.Node)
	return e.against(taintsOf(node)), node
}

// AnyPod reports whether the cache has a pod that satisfies the condition. The pods have no tolerations. The condition
// must not call the reader.
func (r *reader) AnyPod(is func(*taint.Pod) bool) bool { return r.pods.anyOf(is) }

// PodsOn returns the node with this name, or nil if unknown, and the pods bound to it, in no particular order. The pods
// have the tolerations that Pod describes.
func (r *reader) PodsOn(node string) (*taint.Node, []*taint.Pod) {
	n, entries := r.get(node), r.pods.on(node)
	taints, list := taintsOf(n), make([]*taint.Pod, len(entries))
	for i, e := range entries {
		list[i] = e.against(taints)
	}
	return n, list
}
