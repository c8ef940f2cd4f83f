package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/taint"
)

// podsWatched selects the pods that are bound; the API server does not send others. It cannot exclude finished pods:
// those that finalizers keep count as terminating, and no field selector finds them.
const podsWatched = "spec.nodeName!="

// Watcher has all nodes, which it watches, and all pods that are bound and not gone, which it watches, too, or reads
// from a caller's informer. Any number of goroutines may call its methods.
type Watcher struct {
	reader
	client kubernetes.Interface
	synced chan struct{}
	once   sync.Once // closes synced

	podWatch, nodeWatch, namespaceWatch *resource
	resources                           []*resource // these three

	informer   *adapter // nil if the watcher watches pods itself
	namespaces *namespaces
	demand     demand
}

// Watch returns a watcher of nodes and pods that does nothing before Run. The rules must be those that verdicts use. If
// heard is not nil, it is called whenever the API server has accepted a list or a watch, and so also as soon as the API
// server is available again. It must not block.
func Watch(client kubernetes.Interface, rules taint.Rules, heard func()) *Watcher {
	if heard == nil {
		heard = func() {}
	}
	w := &Watcher{client: client, synced: make(chan struct{}), namespaces: newNamespaces()}
	w.reader = newReader(rules, w.HasSynced)
	create := func(name string, covers func(followed, wanted *needs) bool, followed *atomic.Pointer[needs]) *resource {
		r := &resource{
			contact:    contact{resource: name, heard: heard},
			relists:    relists{covers: covers, wanted: w.needs, followed: followed},
			needed:     func(*needs) bool { return true },
			requesting: make(chan struct{}, 1),
		}
		w.resources = append(w.resources, r)
		return r
	}
	w.podWatch = create("pods", coversPods, w.pods.needs)
	w.podWatch.selector = podsWatched
	w.nodeWatch = create("nodes", sameForNodes, w.nodes.needs)
	w.namespaceWatch = create("namespaces", coversNamespaces, newNeeds())
	w.namespaceWatch.needed = func(n *needs) bool { return n.NamespaceLabels }
	w.namespaceWatch.contact.ifForbidden = namespacesForbidden
	return w
}

// Run watches and calls the handler until the context ends, and returns once no call to the handler is running. It must
// be called once. It returns an error only if the caller's informer cannot be used. It retries failed requests forever,
// with a backoff of at most a few seconds, and logs them with the logger in the context.
func (w *Watcher) Run(ctx context.Context, handler Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := newWarnings(klog.FromContext(ctx))
	var watching sync.WaitGroup
	watching.Go(func() { w.namespaces.tell(ctx, handler) })
	watching.Go(func() {
		follow(ctx, w.client, w.namespaceWatch, w.client.CoreV1().Namespaces(), &v1.Namespace{},
			&store[*v1.Namespace, *v1.Namespace]{
				"namespace", w.namespaces, log, func() { w.completed(ctx, w.namespaceWatch) },
			})
	})
	watching.Go(func() {
		w.watchNodes(ctx, newNodeStore(w.nodes, handler, log, func() { w.completed(ctx, w.nodeWatch) }))
	})
	err := w.watchPods(ctx, newPodStore(w.pods, handler, log, func() { w.completed(ctx, w.podWatch) }))
	cancel()
	watching.Wait()
	if err != nil {
		w.end(err)
	}
	return err
}

// watchPods keeps the store up to date until the context ends. It returns an error if the caller's informer cannot be
// used.
func (w *Watcher) watchPods(ctx context.Context, s *store[*v1.Pod, *entry]) error {
	if w.informer != nil {
		return w.informer.run(ctx, s, w.end)
	}
	if c := decodingClient(w.client); c != nil {
		follow(ctx, w.client, w.podWatch, decodedPods(c), &pod{}, s)
	} else {
		follow(ctx, w.client, w.podWatch, w.client.CoreV1().Pods(metav1.NamespaceAll), &v1.Pod{}, s)
	}
	return nil
}

// watchNodes keeps the store up to date until the context ends.
func (w *Watcher) watchNodes(ctx context.Context, s *store[*v1.Node, *v1.Node]) {
	if c := decodingClient(w.client); c != nil {
		follow(ctx, w.client, w.nodeWatch, decodedNodes(c), &node{}, s)
	} else {
		follow(ctx, w.client, w.nodeWatch, w.client.CoreV1().Nodes(), &v1.Node{}, s)
	}
}

// completed records that a list of a resource is complete, and that the handler was called for it.
func (w *Watcher) completed(ctx context.Context, r *resource) {
	r.contact.listed(ctx)
	r.relists.completed()
	if w.HasSynced() {
		w.once.Do(func() { close(w.synced) })
	}
	w.settle()
}

// Synced returns a channel that is closed once all pods and nodes are known, the handler was called for them, and a
// caller's informer was checked.
func (w *Watcher) Synced() <-chan struct{} { return w.synced }

// HasSynced reports whether the first lists of nodes and of pods are complete, and the handler was called for them.
func (w *Watcher) HasSynced() bool {
	return w.nodeWatch.relists.hasList() && w.podWatch.relists.hasList()
}

// WatchOutageUntil returns the end of the last outage of the watch of nodes: now while the API server does not answer,
// zero if it always has.
func (w *Watcher) WatchOutageUntil() time.Time { return w.nodeWatch.contact.outageUntil() }

// Trouble returns nil while the API server answers. While it does not, the cache may be out of date, and the error says
// what cannot be watched, since when, and why. Trouble begins when a request fails, when it has had no response for 45
// seconds, or when a list is cut off. It lasts until a list is complete or a watch is accepted. It does not cover a
// caller's informer.
func (w *Watcher) Trouble() (trouble error) {
	for _, r := range w.resources {
		if r.needed(w.needs.Load()) {
			trouble = errors.Join(trouble, r.contact.trouble())
		}
	}
	return trouble
}
