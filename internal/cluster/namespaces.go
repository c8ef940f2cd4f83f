package cluster

import (
	"context"
	"iter"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
)

// NamespaceObserver is an optional interface of a [Handler].
type NamespaceObserver interface {
	// NamespacesChanged is called when labels of namespaces have changed, and when namespaces have appeared or are
	// gone. The verdicts of all pods must be computed again, by [Watcher.Namespaces]. Changes within a tenth of a
	// second lead to one call. A goroutine of its own calls it.
	NamespacesChanged()
}

const (
	// namespaceDelay is for how long changes of namespaces are collected.
	namespaceDelay = 100 * time.Millisecond

	namespacesForbidden = "policies with a namespaceSelector need the permissions list and watch on namespaces, which " +
		"docs/install.md says how to grant, and hold their pods without them"
)

// namespaces are the labels of namespaces by name. One goroutine writes; any number read.
type namespaces struct {
	needed  chan struct{} // receives once they are needed
	changed chan struct{}
	labels  atomic.Pointer[map[string]map[string]string] // nil before the first list; a map does not change
}

// namespace is what is used of a namespace.
type namespace struct {
	name   string
	labels map[string]string
}

func newNamespaces() *namespaces {
	return &namespaces{needed: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
}

// Namespaces returns the labels of namespaces as they are now; nil unless they are needed and all are known.
func (w *Watcher) Namespaces() policy.Namespaces {
	labels, needs := w.namespaces.labels.Load(), w.needs.Load()
	if labels == nil || !needs.NamespaceLabels || !w.namespaceWatch.relists.has(needs) {
		return nil
	}
	return func(name string) (map[string]string, bool) {
		set, exists := (*labels)[name]
		return set, exists
	}
}

func (n *namespaces) value(o *v1.Namespace, _ bool) namespace { return namespace{o.Name, o.Labels} }

func (n *namespaces) update(now namespace) {
	if old, exists := n.all()[now.name]; exists && maps.Equal(old, now.labels) || n.all() == nil {
		return
	}
	labels := maps.Clone(n.all())
	labels[now.name] = now.labels
	n.show(labels)
}

func (n *namespaces) remove(o *v1.Namespace) {
	if _, exists := n.all()[o.Name]; exists {
		labels := maps.Clone(n.all())
		delete(labels, o.Name)
		n.show(labels)
	}
}

func (n *namespaces) replace(list iter.Seq[namespace], _ string) {
	labels := map[string]map[string]string{}
	for now := range list {
		labels[now.name] = now.labels
	}
	if n.labels.Load() == nil || !maps.EqualFunc(n.all(), labels, maps.Equal[map[string]string]) {
		n.show(labels)
	}
}

func (n *namespaces) reached(string) {}

// all returns the labels of all namespaces; none before the first list.
func (n *namespaces) all() map[string]map[string]string {
	if labels := n.labels.Load(); labels != nil {
		return *labels
	}
	return nil
}

func (n *namespaces) show(labels map[string]map[string]string) {
	n.labels.Store(&labels)
	signal(n.changed)
}

// watchNamespaces watches namespaces from when they are first needed, until the context ends.
func (w *Watcher) watchNamespaces(ctx context.Context, handler Handler, log *warnings) {
	select {
	case <-ctx.Done():
		return
	case <-w.namespaces.needed:
	}
	var telling sync.WaitGroup
	telling.Go(func() { w.namespaces.tell(ctx, handler) })
	defer telling.Wait()
	s := &store[*v1.Namespace, namespace]{
		"namespace", w.namespaces, log, func() { w.completed(ctx, w.namespaceWatch) },
	}
	follow(ctx, w.client, w.namespaceWatch, w.client.CoreV1().Namespaces(), &v1.Namespace{}, s)
}

// tell calls the handler for changes until the context ends.
func (n *namespaces) tell(ctx context.Context, handler Handler) {
	o, ok := handler.(NamespaceObserver)
	for ok {
		select {
		case <-ctx.Done():
			return
		case <-n.changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(namespaceDelay):
		}
		// The handler reads everything that has changed until now.
		select {
		case <-n.changed:
		default:
		}
		o.NamespacesChanged()
	}
}
