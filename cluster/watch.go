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
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/cluster/wire"
	"github.com/taint-manager/taint-manager/taint"
)

// podsWatched selects the pods that are bound and have not finished: no other is even sent to us.
const podsWatched = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// errRunsOnce is what a second Run returns.
var errRunsOnce = errors.New("cluster: Run was called twice")

// Watcher knows all nodes, which it watches, and all pods that are bound and unfinished, which it watches, too, or
// reads from a caller's informer. Its methods may be called by any number of goroutines.
type Watcher struct {
	reader
	client  kubernetes.Interface
	synced  chan struct{}
	started atomic.Bool

	// runPods tells the handler of changes of pods until the context ends. It calls listed once it has
	// told of all pods that there were.
	runPods func(ctx context.Context, handler Handler, warnings *warnings, listed func()) error

	podContact, nodeContact contact
}

// Watch returns a watcher of nodes and pods that does nothing before it is run. The client chooses the content type;
// protobuf is the cheapest by far: of it only the fields that count are decoded. The rules must be those
// that pods are judged by. Unless it is nil, heard is called, and must not block, whenever the API server
// has granted a list or a watch, so also as soon as it is back after it was away.
func Watch(client kubernetes.Interface, rules taint.Rules, heard func()) *Watcher {
	p := newPods()
	w := newWatcher(client, p, rules, heard)
	w.runPods = func(ctx context.Context, handler Handler, warnings *warnings, listed func()) error {
		store := &podStore{pods: p, handler: handler, warnings: warnings, listed: listed}
		complete := completing{store, func() { w.podContact.listed(ctx) }}
		w.reflect(ctx, "pods", &v1.Pod{}, w.podRequests(p.recall), complete)
		return nil
	}
	return w
}

func newWatcher(client kubernetes.Interface, pods podReader, rules taint.Rules, heard func()) *Watcher {
	if heard == nil {
		heard = func() {}
	}
	w := &Watcher{
		client: client, synced: make(chan struct{}),
		podContact: contact{what: "pods", heard: heard}, nodeContact: contact{what: "nodes", heard: heard},
	}
	w.pods, w.nodes = pods, newNodes(rules, pods.on, w.HasSynced)
	return w
}

// Run watches, and tells the handler, until the context ends and no call to the handler is under way.
// It returns an error only when it was run before, or when the caller's informer can't be used. Failures to
// reach the API server are retried for ever, with a backoff of at most some seconds, and logged by the
// logger in the context.
func (w *Watcher) Run(ctx context.Context, handler Handler) error {
	if w.started.Swap(true) {
		return errRunsOnce
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := newWarnings(klog.FromContext(ctx))
	var lists atomic.Int32
	listed := func() {
		if lists.Add(1) == 2 {
			close(w.synced)
		}
	}
	nodeStore := &nodeStore{nodes: w.nodes, handler: handler, warnings: log, listed: listed}
	completeNodes := completing{nodeStore, func() { w.nodeContact.listed(ctx) }}
	var watching sync.WaitGroup
	watching.Go(func() { w.reflect(ctx, "nodes", &v1.Node{}, w.nodeRequests(), completeNodes) })
	err := w.runPods(ctx, handler, log, listed)
	cancel()
	watching.Wait()
	return err
}

// Synced is closed once all pods and nodes are known, the handler was told of them, and a caller's informer was
// checked.
func (w *Watcher) Synced() <-chan struct{} { return w.synced }

// HasSynced says whether [Watcher.Synced] is closed.
func (w *Watcher) HasSynced() bool { return closed(w.synced) }

// Trouble is nil while the API server answers. While it does not, what is kept may be out of date:
// then the error says what can't be watched, since when, and why. It begins when a request fails, or has
// been without an answer for 45 seconds, or when a list breaks off, and lasts until a list has come to its
// end or a watch is granted. How a caller's informer fares is for the caller to watch.
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

func (w *Watcher) podRequests(lookup wire.PodLookup) *cache.ListWatch {
	c := &w.podContact
	return requestsBy(podLister(w.client, lookup, c.granted), c, podsWatched)
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
