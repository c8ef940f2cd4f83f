package inspect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/internal/transport"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/journal/store"
)

// watched computes the scheduled evictions of a cluster that it watches.
type watched struct {
	*pendingOptions
	now     func() time.Time
	changed chan struct{}

	mu      sync.Mutex // guards all below
	model   *foresight.Model
	pages   *pages
	hidden  bool             // the nodes can't be listed
	spaces  string           // why namespaces can't be read; "" if they were, or are not needed
	trouble map[string]error // errors of the watches, by what they watch
	waiting map[string]bool  // what was not received yet
	seen    chan struct{}    // closed once everything was received
}

// watchedCluster is a live cluster to watch.
type watchedCluster struct {
	liveCluster
	*pendingOptions
}

// Follow reads once, so that a refusal is reported at once; then it watches.
func (l watchedCluster) Follow(ctx context.Context) (current, error) {
	hidden, err := l.mayListNodes(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.mayListPods(ctx); err != nil {
		return nil, err
	}
	w := &watched{
		pendingOptions: l.pendingOptions, now: l.now, changed: make(chan struct{}, 1), model: l.model(),
		pages: l.location.noPages(), hidden: hidden, trouble: map[string]error{}, waiting: map[string]bool{}, seen: make(chan struct{}),
	}
	if w.spaces, err = l.readNamespaces(ctx, l.query(), w.model); err != nil {
		return nil, err
	}
	w.start(ctx, l)
	select {
	case <-w.seen:
	case <-ctx.Done():
	case <-time.After(transport.Patience): // the rest is shown when it arrives
	}
	return w, nil
}

// mayListNodes lists the nodes, and returns an error if a node of the selection does not exist. hidden is true if
// the user may not list nodes.
func (l watchedCluster) mayListNodes(ctx context.Context) (hidden bool, err error) {
	m := l.model()
	err = l.listNodes(ctx, m)
	switch {
	case apierrors.IsForbidden(err):
		return true, nil
	case err != nil:
		return false, err
	}
	return false, unknownNodes(l.nodes, m, l)
}

// mayListPods requests as few pods as possible.
func (l watchedCluster) mayListPods(ctx context.Context) error {
	q := l.query()
	if _, err := l.client.CoreV1().Pods(l.only()).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return l.refused("list "+q.whichPods(), err)
	}
	return nil
}

// start watches until the context ends. The process does not wait for these goroutines when it ends.
func (w *watched) start(ctx context.Context, l watchedCluster) {
	w.waiting["pods"], w.waiting["nodes"] = true, !w.hidden
	for number := range journal.Partitions {
		w.waiting[pageName(number)] = true
	}
	q := l.query()
	fieldSelector := q.fieldSelector()
	go watchOn(ctx, w, w.podShelf(), l.client.CoreV1().Pods(l.only()), func(o *metav1.ListOptions) {
		o.FieldSelector, o.LabelSelector = fieldSelector, l.selector
	}, l.client)
	if !w.hidden {
		go watchOn(ctx, w, w.nodeShelf(), l.client.CoreV1().Nodes(), func(*metav1.ListOptions) {}, l.client)
	}
	journals := store.NewConfigMaps(l.client, l.location.space, l.location.name())
	for number := range journal.Partitions {
		go journals.Watch(ctx, number, func(sheet journal.StoredPartition, err error) { w.turn(number, sheet, err) })
	}
}

func (w *watched) podShelf() *shelf {
	return &shelf{
		w: w, what: "pods", kind: &v1.Pod{},
		key:  func(object any) string { return string(object.(*v1.Pod).UID) },
		add:  func(object any) { w.model.AddPod(object.(*v1.Pod)) },
		see:  func(object any, at time.Time) { w.model.UpdatePod(object.(*v1.Pod), at) },
		drop: func(key string) { w.model.RemovePod(types.UID(key)) },
	}
}

func (w *watched) nodeShelf() *shelf {
	return &shelf{
		w: w, what: "nodes", kind: &v1.Node{},
		key:  func(object any) string { return object.(*v1.Node).Name },
		add:  func(object any) { w.model.AddNode(object.(*v1.Node)) },
		see:  func(object any, at time.Time) { w.model.UpdateNode(object.(*v1.Node), at) },
		drop: func(key string) { w.model.RemoveNode(key) },
	}
}

func pageName(number int) string { return fmt.Sprintf("partition %d", number) }

// turn stores a partition of the journal.
func (w *watched) turn(number int, sheet journal.StoredPartition, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, known := w.pages.found[number]; err != nil && known && before.err == nil {
		return // the last version that was read remains valid
	}
	w.pages.take(number, sheet, err)
	if w.hidden {
		w.model.ReplaceByRecords(w.pages.all(), w.now())
	} else {
		w.model.AddRecords(w.pages.found[number].Partition, w.now())
	}
	w.model.SetGuards(w.pages.guards())
	w.noticed(pageName(number))
}

// noticed signals a change. The caller holds the lock.
func (w *watched) noticed(what string) {
	if len(w.waiting) > 0 {
		delete(w.waiting, what)
		if !w.waits() {
			w.waiting = nil
			close(w.seen)
		}
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watched) waits() bool {
	for _, yes := range w.waiting {
		if yes {
			return true
		}
	}
	return false
}

func (w *watched) news() <-chan struct{} { return w.changed }

func (w *watched) look() *foresight.Pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := w.tell(&seen{Model: w.model, reading: reading{hidden: w.hidden, spaces: w.spaces}, journal: w.pages}, w.now())
	for _, what := range []string{"nodes", "pods"} {
		if err := w.trouble[what]; err != nil {
			pending.Notes = append(pending.Notes, fmt.Sprintf("the %s can't be watched, so this may be out of date: %v", what, err))
		}
	}
	return pending
}

func (w *watched) left(uid types.UID) (change, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why, stays := w.model.Now(uid); stays {
		return cancelled, why
	}
	return gone, ""
}

// resource is a kind of object that can be listed and watched.
type resource[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// watchOn keeps a shelf up to date with the API server, until the context ends.
func watchOn[L runtime.Object](ctx context.Context, w *watched, to *shelf, from resource[L], narrow func(*metav1.ListOptions), client kubernetes.Interface) {
	silent := logr.Discard() // errors are shown in the answer's notes
	requests := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			narrow(&o)
			list, err := from.List(ctx, o)
			w.note(to.what, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			narrow(&o)
			stream, err := from.Watch(ctx, o)
			w.note(to.what, err)
			return stream, err
		},
	}
	cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(requests, client), to.kind, to, cache.ReflectorOptions{
		Logger: &silent, Name: "taint-manager." + to.what,
		Backoff: &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5, Cap: 3 * time.Second},
	}).RunWithContext(ctx)
}

// note records whether something can be watched.
func (w *watched) note(what string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && errors.Is(err, context.Canceled) {
		return
	}
	w.trouble[what] = err
}

// shelf is the store of a reflector, which uses it from one goroutine.
type shelf struct {
	w    *watched
	what string
	kind runtime.Object
	key  func(object any) string
	add  func(object any) // for objects of the first list
	see  func(object any, at time.Time)
	drop func(key string)
	keys map[string]bool // nil before the first list
}

// Add stores an object that the watch has shown.
func (s *shelf) Add(object any) error { return s.Update(object) }

// Update stores an object that the watch has shown.
func (s *shelf) Update(object any) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.take(object, false)
	s.w.noticed(s.what)
	return nil
}

func (s *shelf) take(object any, listed bool) {
	if s.keys == nil {
		s.keys = map[string]bool{}
	}
	if listed {
		s.add(object)
	} else {
		s.see(object, s.w.now())
	}
	s.keys[s.key(object)] = true
}

// Delete removes an object.
func (s *shelf) Delete(object any) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.forget(s.key(object))
	s.w.noticed(s.what)
	return nil
}

func (s *shelf) forget(key string) {
	s.drop(key)
	delete(s.keys, key)
}

// Replace stores a list. The objects of the first list existed before the watch began.
func (s *shelf) Replace(objects []any, _ string) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	first := s.keys == nil
	there := map[string]bool{}
	for _, object := range objects {
		there[s.key(object)] = true
		s.take(object, first)
	}
	for key := range s.keys {
		if !there[key] {
			s.forget(key)
		}
	}
	if first {
		s.w.model.Begin(s.w.now())
	}
	if s.keys == nil {
		s.keys = map[string]bool{}
	}
	s.w.noticed(s.what)
	return nil
}

// Resync does nothing.
func (s *shelf) Resync() error { return nil }
