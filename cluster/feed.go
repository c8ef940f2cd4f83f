package cluster

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Feed is the cache of a [Watcher] without the watching. The caller puts in what lists and watches have shown, and
// provides the time, so that the cache runs in simulated time. A Feed starts no goroutine. Only one goroutine may put
// in; any number may read.
type Feed struct {
	reader

	podStore  *podStore
	nodeStore *nodeStore
	lists     int
}

// NewFeed returns an empty feed. The goroutine that puts in something also calls the handler. The times that now
// returns must carry the monotonic clock.
func NewFeed(rules taint.Rules, handler Handler, now func() time.Time) *Feed {
	p := newPods(newNeeds())
	p.now = now
	f := &Feed{}
	f.pods, f.nodes, f.needs = p, newNodes(rules, p.on, f.HasSynced), p.needs
	f.nodes.now = now
	log := newWarnings(logr.Discard())
	listed := func() { f.lists++ }
	f.podStore = &podStore{pods: p, handler: handler, warnings: log, listed: listed}
	f.nodeStore = &nodeStore{
		nodes: f.nodes, handler: handler, warnings: log, observer: observerOf(handler),
		listed: listed,
	}
	return f
}

// Need sets the data that the cache keeps for policies, and reports whether it has all of it only after other lists of
// nodes and of pods. Labels of namespaces are not part of a feed.
func (f *Feed) Need(n policy.Needs) (relist bool) {
	kept := f.needs.Swap(&n)
	old := f.nodes.needs.Swap(&n)
	if drops(old, &n) {
		f.nodes.narrow(&n)
	}
	return !sameForNodes(old, &n) || !coversPods(kept, &n)
}

// Pods returns the store into which pods from lists and watches are put, as a reflector does.
func (f *Feed) Pods() cache.TransformingStore { return f.podStore }

// Nodes returns the store into which nodes from lists and watches are put, as a reflector does.
func (f *Feed) Nodes() cache.TransformingStore { return f.nodeStore }

// HasSynced reports whether the first lists of pods and of nodes are in.
func (f *Feed) HasSynced() bool { return f.lists == 2 }
