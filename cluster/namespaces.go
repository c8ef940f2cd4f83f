package cluster

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// NamespaceObserver is an optional interface of a [Handler].
type NamespaceObserver interface {
	// NamespacesChanged is called when labels of namespaces have changed, and when namespaces have appeared or are
	// gone. The verdicts of all pods must be computed again, by [Watcher.Namespaces]. Changes within a tenth of a
	// second lead to one call. A goroutine of its own calls it.
	NamespacesChanged()
}

// namespaceDelay is for how long changes of namespaces are collected.
const namespaceDelay = 100 * time.Millisecond

// namespaces are the labels of namespaces by name. Any number of goroutines may use them.
type namespaces struct {
	toggled chan struct{} // they are needed, or no longer
	changed chan struct{}

	mu       sync.Mutex
	complete bool
	labels   map[string]map[string]string
	shared   bool // a snapshot uses the map
}

func newNamespaces() *namespaces {
	return &namespaces{
		toggled: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		labels: map[string]map[string]string{},
	}
}

// Namespaces returns the labels of namespaces as they are now; nil unless they are needed and all are known.
func (w *Watcher) Namespaces() policy.Namespaces {
	if !w.needs.Load().NamespaceLabels {
		return nil
	}
	return w.namespaces.snapshot()
}

// snapshot returns the present labels; nil before the first list.
func (n *namespaces) snapshot() policy.Namespaces {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.complete {
		return nil
	}
	n.shared = true
	labels := n.labels
	return func(name string) (map[string]string, bool) {
		set, known := labels[name]
		return set, known
	}
}

// listed reports whether all namespaces are known.
func (n *namespaces) listed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.complete
}

// set stores the labels of a namespace; nil labels of a namespace that is not there remove it.
func (n *namespaces) set(name string, labels map[string]string, there bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	old, known := n.labels[name]
	if known == there && maps.Equal(old, labels) {
		return
	}
	if n.shared {
		n.labels, n.shared = maps.Clone(n.labels), false
	}
	if there {
		n.labels[name] = labels
	} else {
		delete(n.labels, name)
	}
	signal(n.changed)
}

// replace stores all namespaces.
func (n *namespaces) replace(labels map[string]map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.complete && maps.EqualFunc(n.labels, labels, maps.Equal[map[string]string]) {
		return
	}
	n.labels, n.shared, n.complete = labels, false, true
	signal(n.changed)
}

// clear forgets all namespaces.
func (n *namespaces) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.labels, n.shared, n.complete = map[string]map[string]string{}, false, false
}

// tell calls the handler for changes until the context ends.
func (n *namespaces) tell(ctx context.Context, handler Handler) {
	o, ok := handler.(NamespaceObserver)
	if !ok {
		return
	}
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
		// What has changed until now is in the snapshot that the handler takes.
		select {
		case <-n.changed:
		default:
		}
		o.NamespacesChanged()
	}
}
