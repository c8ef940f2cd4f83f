package cluster

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// Feed is the cache of a [Watcher] without the watching. Whoever holds it puts in what lists and
// watches have shown, and says what time it is, so that it runs in simulated time. It starts no
// goroutine. Only one goroutine may put in; any number may read.
type Feed struct {
	reader

	podStore  *podStore
	nodeStore *nodeStore
	lists     int
}

// NewFeed returns a feed that has seen nothing yet. The handler is told of what is put in, by the
// goroutine that puts it in. What now returns must carry the monotonic clock.
func NewFeed(rules taint.Rules, handler Handler, now func() time.Time) *Feed {
	p := newPods()
	p.now = now
	f := &Feed{}
	f.pods, f.nodes = p, newNodes(rules, p.on, f.HasSynced)
	f.nodes.now = now
	log := newWarnings(logr.Discard())
	listed := func() { f.lists++ }
	f.podStore = &podStore{pods: p, handler: handler, warnings: log, listed: listed}
	f.nodeStore = &nodeStore{nodes: f.nodes, handler: handler, warnings: log, listed: listed}
	return f
}

// Pods is where what lists and watches show of pods is put in, as a reflector does it.
func (f *Feed) Pods() cache.TransformingStore { return f.podStore }

// Nodes is where what lists and watches show of nodes is put in, as a reflector does it.
func (f *Feed) Nodes() cache.TransformingStore { return f.nodeStore }

// HasSynced says whether the first lists of pods and of nodes are in.
func (f *Feed) HasSynced() bool { return f.lists == 2 }
