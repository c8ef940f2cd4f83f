package cluster

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
)

const (
	// namespaceDelay is how long changes of namespaces are collected.
	namespaceDelay = 100 * time.Millisecond

	namespacesForbidden = "policies with a namespaceSelector need the permissions list and watch on namespaces, which " +
		"docs/install.md says how to grant, and hold their pods without them"
)

// namespaces are the labels of namespaces by name. One goroutine writes; any number read.
type namespaces struct {
	labels  atomic.Pointer[map[string]map[string]string] // a stored map never changes
	changed chan struct{}
}

func newNamespaces() *namespaces {
	n := &namespaces{changed: make(chan struct{}, 1)}
	n.labels.Store(&map[string]map[string]string{})
	return n
}

// Namespaces returns the labels of namespaces as they are now; nil unless they are needed and all are known.
func (w *Watcher) Namespaces() policy.Namespaces {
	needs := w.needs.Load()
	if !needs.NamespaceLabels || !w.namespaceWatch.relists.has(needs) {
		return nil
	}
	labels := *w.namespaces.labels.Load()
	return func(name string) (map[string]string, bool) {
		set, exists := labels[name]
		return set, exists
	}
}

func (n *namespaces) trim(o *v1.Namespace, _ bool) *v1.Namespace {
	return &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.Name, Labels: o.Labels}}
}

func (n *namespaces) update(o *v1.Namespace) {
	labels := maps.Clone(*n.labels.Load())
	labels[o.Name] = o.Labels
	n.show(labels)
}

func (n *namespaces) remove(o *v1.Namespace) {
	labels := maps.Clone(*n.labels.Load())
	delete(labels, o.Name)
	n.show(labels)
}

func (n *namespaces) replace(list []*v1.Namespace, _ string) {
	labels := map[string]map[string]string{}
	for _, o := range list {
		labels[o.Name] = o.Labels
	}
	n.show(labels)
}

func (n *namespaces) reached(string) {}

func (n *namespaces) show(labels map[string]map[string]string) {
	if !maps.EqualFunc(*n.labels.Load(), labels, maps.Equal[map[string]string]) {
		n.labels.Store(&labels)
		signal(n.changed)
	}
}

// tell calls the handler for changes until the context ends.
func (n *namespaces) tell(ctx context.Context, handler Handler) {
	for {
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
		select {
		case <-n.changed: // the handler reads everything that has changed until now
		default:
		}
		handler.NamespacesChanged()
	}
}
