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

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// podsWatched selects the pods that are bound and have not finished; the API server does not send others.
const podsWatched = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// errRunsOnce is the error of a second Run.
var errRunsOnce = errors.New("cluster: Run was called twice")

// Watcher has all nodes, which it watches, and all pods that are bound and unfinished, which it also watches or reads
// from a caller's informer. Any number of goroutines may call its methods.
type Watcher struct {
	reader
	client  kubernetes.Interface
	synced  chan struct{}
	started atomic.Bool

	// runPods calls the handler for changes of pods until the context ends. It calls listed once it has called the
	// handler for all pods of the first list.
	runPods func(ctx context.Context, handler Handler, warnings *warnings, listed func()) error

	podContact, nodeContact, namespaceContact contact

	demand     demand
	nodeLists  relists
	podLists   relists // not used with a caller's informer
	namespaces *namespaces

	// podsHave reports whether a list of pods, or a caller's informer, was found to have what is needed.
	podsHave func(n *policy.Needs) bool

	// recheck wakes up the check of a caller's informer; nil without an informer.
	recheck chan struct{}
}

// Watch returns a watcher of nodes and pods that does nothing before Run. The client's configuration determines the
// content type. Protobuf is by far the cheapest, because only the required fields are decoded. The rules must be those
// that verdicts use. If heard is not nil, it is called whenever the API server has accepted a list or a watch, hence
// also as soon as the API server is available again. It must not block.
func Watch(client kubernetes.Interface, rules taint.Rules, heard func()) *Watcher {
	p := newPods(newNeeds())
	w := newWatcher(client, p, rules, heard, newNeeds())
	w.podLists.followed, w.podsHave = p.needs, w.podLists.has
	w.runPods = func(ctx context.Context, handler Handler, warnings *warnings, listed func()) error {
		store := &podStore{pods: p, handler: handler, warnings: warnings, listed: listed}
		complete := completing{store, func() {
			w.podContact.listed(ctx)
			w.podLists.completed()
			w.settle()
		}}
		w.reflect(ctx, "pods", &v1.Pod{}, w.podRequests(store.Transformer()), complete)
		return nil
	}
	return w
}

func newWatcher(
	client kubernetes.Interface, pods podReader, rules taint.Rules, heard func(), needs *atomic.Pointer[policy.Needs],
) *Watcher {
	if heard == nil {
		heard = func() {}
	}
	w := &Watcher{
		client: client, synced: make(chan struct{}),
		podContact: contact{what: "pods", heard: heard}, nodeContact: contact{what: "nodes", heard: heard},
		namespaceContact: contact{what: "namespaces", heard: heard}, namespaces: newNamespaces(),
	}
	w.pods, w.nodes, w.needs = pods, newNodes(rules, pods.on, w.HasSynced), needs
	w.nodeLists = relists{covers: sameForNodes, wanted: needs, followed: w.nodes.needs}
	w.podLists = relists{covers: coversPods, wanted: needs, followed: newNeeds()}
	return w
}

// Run watches and calls the handler until the context ends and no call to the handler is under way. It returns an error
// only if it was called before, or if the caller's informer cannot be used. It retries failed requests for ever, with a
// backoff of at most some seconds, and logs them with the logger in the context.
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
			w.settle()
		}
	}
	nodeStore := &nodeStore{
		nodes: w.nodes, handler: handler, warnings: log, observer: observerOf(handler),
		listed: listed,
	}
	completeNodes := completing{nodeStore, func() {
		w.nodeContact.listed(ctx)
		w.nodeLists.completed()
		w.settle()
	}}
	var watching sync.WaitGroup
	watching.Go(func() { w.watchNamespaces(ctx, handler, log) })
	watching.Go(func() { w.reflect(ctx, "nodes", &v1.Node{}, w.nodeRequests(nodeStore.Transformer()), completeNodes) })
	err := w.runPods(ctx, handler, log, listed)
	cancel()
	watching.Wait()
	if err != nil {
		w.end(err)
	}
	return err
}

// Synced returns a channel that is closed once all pods and nodes are known, the handler was called for them, and a
// caller's informer was checked.
func (w *Watcher) Synced() <-chan struct{} { return w.synced }

// HasSynced reports whether [Watcher.Synced] is closed.
func (w *Watcher) HasSynced() bool { return closed(w.synced) }

// Trouble returns nil while the API server answers. While it does not, the cache may be out of date, and the error says
// what cannot be watched, since when, and why. Trouble begins when a request fails, when it has had no response for 45
// seconds, or when a list is cut off. It lasts until a list is complete or a watch is accepted. It does not cover a
// caller's informer.
func (w *Watcher) Trouble() error {
	return errors.Join(w.podContact.trouble(), w.nodeContact.trouble(), w.namespaceContact.trouble())
}

// completing is a store that reports when a list is complete.
type completing struct {
	cache.TransformingStore
	listed func()
}

// Replace stores a whole list.
func (c completing) Replace(items []any, version string) error {
	err := c.TransformingStore.Replace(items, version)
	c.listed()
	return err
}

// Bookmark passes a bookmark on.
func (c completing) Bookmark(version string) error {
	if store, ok := c.TransformingStore.(cache.ReflectorBookmarkStore); ok {
		return store.Bookmark(version)
	}
	return nil
}

// reflect keeps the store up to date with the requests until the context ends.
func (w *Watcher) reflect(
	ctx context.Context, name string, kind runtime.Object, requests *cache.ListWatch, store cache.ReflectorStore,
) {
	logger := klog.FromContext(ctx)
	listerWatcher := cache.ToListWatcherWithWatchListSemantics(requests, w.client)
	cache.NewReflectorWithOptions(listerWatcher, kind, store, cache.ReflectorOptions{
		Logger: &logger,
		Name:   "taint-manager." + name,
		Clock:  clockUntil{ctx: ctx},
		// Client-go's own backoff grows to a minute, which is too long for evictions that wait for the watch.
		Backoff: &wait.Backoff{
			Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5,
			Cap: 3 * time.Second,
		},
	}).RunWithContext(ctx)
}

func (w *Watcher) podRequests(trim cache.TransformFunc) *cache.ListWatch {
	c := &w.podContact
	l := newLister(w.client, w.client.CoreV1().Pods(metav1.NamespaceAll), "pods", trim, c.granted)
	return w.podLists.over(requestsBy(l, c, podsWatched))
}

func (w *Watcher) nodeRequests(trim cache.TransformFunc) *cache.ListWatch {
	c := &w.nodeContact
	l := newLister(w.client, w.client.CoreV1().Nodes(), "nodes", trim, c.granted)
	return w.nodeLists.over(requestsBy(l, c, ""))
}

// requestsBy returns a reflector's requests for the objects that the selector matches.
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
