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
	// NamespacesChanged is called when labels of namespaces have changed, and when namespaces have appeared or are gone.
	// The verdicts of all pods must be computed again, by [Watcher.Namespaces]. Changes within a tenth of a second lead
	// to one call. A goroutine of its own calls it.
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
	return &namespaces{toggled: make(chan struct{}, 1), changed: make(chan struct{}, 1), labels: map[string]map[string]string{}}
}

// Namespaces returns the labels of namespaces as they are now; nil unless they are needed and all are known.
func (w *Watcher) Namespaces() policy.Namespaces {
	if !w.needs.Load().NamespaceLabels {
		return nil
	}
	return w.namespaces.snapshot()
}

// snapshot returns the present labels; nil before the first list.
func (s *namespaces) snapshot() policy.Namespaces {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.complete {
		return nil
	}
	s.shared = true
	labels := s.labels
	return func(name string) (map[string]string, bool) {
		set, known := labels[name]
		return set, known
	}
}

// listed reports whether all namespaces are known.
func (s *namespaces) listed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete
}

// set stores the labels of a namespace; nil labels of a namespace that is not there remove it.
func (s *namespaces) set(name string, labels map[string]string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.labels[name]
	if known == there && maps.Equal(old, labels) {
		return
	}
	if s.shared {
		s.labels, s.shared = maps.Clone(s.labels), false
	}
	if there {
		s.labels[name] = labels
	} else {
		delete(s.labels, name)
	}
	signal(s.changed)
}

// replace stores all namespaces.
func (s *namespaces) replace(labels map[string]map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete && maps.EqualFunc(s.labels, labels, maps.Equal[map[string]string]) {
		return
	}
	s.labels, s.shared, s.complete = labels, false, true
	signal(s.changed)
}

// clear forgets all namespaces.
func (s *namespaces) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.labels, s.shared, s.complete = map[string]map[string]string{}, false, false
}

// tell calls the handler for changes until the context ends.
func (s *namespaces) tell(ctx context.Context, handler Handler) {
	o, ok := handler.(NamespaceObserver)
	if !ok {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(namespaceDelay):
		}
		// What has changed until now is in the snapshot that the handler takes.
		select {
		case <-s.changed:
		default:
		}
		o.NamespacesChanged()
	}
}
