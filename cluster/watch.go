package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// podsWatched selects the pods that are bound and have not finished: no other is even sent to us.
const podsWatched = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// errRunsOnce is what a second Run returns.
var errRunsOnce = errors.New("cluster: Run was called twice")

// Watcher watches all nodes and all pods that are bound and unfinished, and keeps small values of them.
// Its methods may be called by any number of goroutines.
type Watcher struct {
	client  kubernetes.Interface
	pods    *pods
	nodes   *nodes
	synced  chan struct{}
	started atomic.Bool

	podContact, nodeContact contact
}

// Watch returns a watcher that does nothing before it is run. The client chooses the content type;
// protobuf is the cheapest by far: of it only the fields that count are decoded. The rules must be those
// that pods are judged by. Unless it is nil, heard is called, and must not block, whenever the API server
// has granted a list or a watch, so also as soon as it is back after it was away.
func Watch(client kubernetes.Interface, rules taint.Rules, heard func()) *Watcher {
	if heard == nil {
		heard = func() {}
	}
	p := newPods()
	w := &Watcher{
		client: client, pods: p, synced: make(chan struct{}),
		podContact: contact{what: "pods", heard: heard}, nodeContact: contact{what: "nodes", heard: heard},
	}
	w.nodes = newNodes(rules, p.on, w.HasSynced)
	return w
}

// Run watches, and tells the handler, until the context ends and no call to the handler is under way.
// It returns an error only when it was run before. Failures to reach the API server are retried for
// ever, with a backoff of at most some seconds, and logged by the logger in the context.
func (w *Watcher) Run(ctx context.Context, handler Handler) error {
	if w.started.Swap(true) {
		return errRunsOnce
	}
	odd := newOddities(klog.FromContext(ctx))
	var lists atomic.Int32
	listed := func() {
		if lists.Add(1) == 2 {
			close(w.synced)
		}
	}
	podStore := &podStore{pods: w.pods, handler: handler, odd: odd, listed: listed}
	nodeStore := &nodeStore{nodes: w.nodes, handler: handler, odd: odd, listed: listed}
	completePods := completing{podStore, func() { w.podContact.listed(ctx) }}
	completeNodes := completing{nodeStore, func() { w.nodeContact.listed(ctx) }}
	var running sync.WaitGroup
	running.Go(func() { w.reflect(ctx, "pods", &v1.Pod{}, w.podRequests(), completePods) })
	running.Go(func() { w.reflect(ctx, "nodes", &v1.Node{}, w.nodeRequests(), completeNodes) })
	running.Wait()
	return nil
}

// Pod returns the pod with this UID and the node that it is bound to; each is nil when it is not there.
func (w *Watcher) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	return withNode(w.pods.get(uid), w.nodes)
}

// PodsOn returns the node of this name, nil when it is not there, and the pods bound to it, in no order.
func (w *Watcher) PodsOn(node string) (*taint.Node, []*taint.Pod) {
	return w.nodes.get(node), w.pods.on(node)
}

// Version is the resourceVersion of the last look at a tainted node; empty when there is no such node.
func (w *Watcher) Version(node string) string { return w.nodes.version(node) }

// Tainted returns the nodes that carry NoExecute taints, in no order.
func (w *Watcher) Tainted() []*taint.Node { return w.nodes.carriers() }

// Adopt betters what is known of a node by the journal's record of it; see [journal.Known.Adopt]. It says
// whether that changes anything; the handler is not told.
func (w *Watcher) Adopt(node string, record journal.Record) bool {
	return w.nodes.adopt(node, record)
}

// Synced is closed once the first lists of pods and of nodes are in and the handler was told of them.
func (w *Watcher) Synced() <-chan struct{} { return w.synced }

// HasSynced says whether [Watcher.Synced] is closed.
func (w *Watcher) HasSynced() bool { return closed(w.synced) }

// Trouble is nil while the API server answers. While it does not, what is kept may be out of date:
// then the error says what can't be watched, since when, and why. It begins when a request fails, or has
// been without an answer for 45 seconds, or when a list breaks off, and lasts until a list has come to its
// end or a watch is granted.
func (w *Watcher) Trouble() error {
	return errors.Join(w.podContact.trouble(), w.nodeContact.trouble())
}

// completing is a store that tells when a list has come to its end.
type completing struct {
	cache.TransformingStore
	listed func()
}

// Replace takes in a whole list.
func (s completing) Replace(items []any, version string) error {
	err := s.TransformingStore.Replace(items, version)
	s.listed()
	return err
}

// reflect keeps the store like what the requests show, until the context ends.
func (w *Watcher) reflect(ctx context.Context, name string, kind runtime.Object, requests *cache.ListWatch, store cache.ReflectorStore) {
	logger := klog.FromContext(ctx)
	listerWatcher := cache.ToListWatcherWithWatchListSemantics(requests, w.client)
	cache.NewReflectorWithOptions(listerWatcher, kind, store, cache.ReflectorOptions{
		Logger: &logger,
		Name:   "taint-manager." + name,
		Clock:  clockUntil{ctx: ctx},
		// Client-go's own grows to a minute: too long for evictions that wait for the watch.
		Backoff: &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5, Cap: 3 * time.Second},
	}).RunWithContext(ctx)
}

func (w *Watcher) podRequests() *cache.ListWatch {
	c := &w.podContact
	return requestsBy(podLister(w.client, w.pods.recall, c.granted), c, podsWatched)
}

func (w *Watcher) nodeRequests() *cache.ListWatch {
	c := &w.nodeContact
	return requestsBy(nodeLister(w.client, c.granted), c, "")
}

// requestsBy are the requests of a reflector for the objects that the selector selects.
func requestsBy(l lister, c *contact, selector string) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return ask(ctx, c, o, l.List)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector, o.Watch = selector, true
			return ask(ctx, c, o, l.Watch)
		},
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
