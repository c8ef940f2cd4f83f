package cluster

import (
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Feed is the cache of a [Watcher] without the watches. The caller adds the objects that lists and watches would show,
// and provides the time, so that the cache can run in simulated time. A Feed starts no goroutine. Only one goroutine
// may add objects; any number may read.
type Feed struct {
	reader

	podStore  *store[*v1.Pod, *entry]
	nodeStore *store[*v1.Node, *v1.Node]
	lists     map[string]bool // the complete ones, by kind
}

// NewFeed returns an empty feed. The goroutine that adds an object also calls the handler. The times that now returns
// must carry the monotonic clock.
func NewFeed(rules taint.Rules, handler Handler, now func() time.Time) *Feed {
	f := &Feed{lists: map[string]bool{}}
	f.reader = newReader(rules, f.HasSynced)
	f.pods.now, f.now = now, now
	log := newWarnings(logr.Discard())
	f.podStore = newPodStore(f.pods, handler, log, func() { f.lists["pods"] = true })
	f.nodeStore = newNodeStore(f.nodes, handler, log, func() { f.lists["nodes"] = true })
	return f
}

// Need sets the data that the cache keeps for policies, and reports whether the cache has all of this data only after
// new lists of nodes and of pods. Labels of namespaces are not part of a feed.
func (f *Feed) Need(n policy.Needs) (relist bool) {
	now := f.needs.Load().next(n)
	f.needs.Store(now)
	ofPods, ofNodes := f.pods.needs.Swap(now), f.nodes.needs.Swap(now)
	return !sameForNodes(ofNodes, now) || !coversPods(ofPods, now)
}

// Pods returns the store into which pods from lists and watches are put, as a reflector does.
func (f *Feed) Pods() cache.TransformingStore { return f.podStore }

// Nodes returns the store into which nodes from lists and watches are put, as a reflector does.
func (f *Feed) Nodes() cache.TransformingStore { return f.nodeStore }

// HasSynced reports whether the first lists of pods and of nodes are complete.
func (f *Feed) HasSynced() bool { return len(f.lists) == 2 }
