package cluster

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/journal"
)

// nodeStore is the store of a reflector for nodes: the watch puts in whole objects, a list whole objects or models. Only
// the reflector's goroutine uses it.
type nodeStore struct {
	nodes    *nodes
	handler  Handler
	warnings *warnings

	observer observer

	// listed is called when the first list is in, and is nil from then on.
	listed func()

	// watched is when the watch, or a list, last delivered something.
	watched time.Time
}

var _ cache.TransformingStore = (*nodeStore)(nil)

// Transformer trims the nodes of a streamed list as they arrive.
func (s *nodeStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		n, ok := obj.(*v1.Node)
		if !ok || n == nil {
			return obj, nil
		}
		l := s.nodes.modelOf(n)
		l.taints = slices.Clone(l.taints)
		return &l, nil
	}
}

// Add stores a node that the watch has shown for the first time.
func (s *nodeStore) Add(obj any) error { return s.Update(obj) }

// Update stores a node that the watch has shown.
func (s *nodeStore) Update(obj any) error {
	if n, ok := obj.(*v1.Node); ok && n != nil {
		l := s.nodes.modelOf(n)
		s.observer.update(l.name, &l)
		tell := s.nodes.update(l, gap{})
		s.nodes.reach(l.version)
		s.tell(tell, l.name)
		s.watched = s.nodes.now()
		return nil
	}
	s.warnings.unexpected("node", obj)
	return nil
}

// Delete removes a node that was deleted.
func (s *nodeStore) Delete(obj any) error {
	if n, ok := obj.(*v1.Node); ok && n != nil {
		s.observer.update(n.Name, nil)
		tell := s.nodes.forget(n.Name)
		s.nodes.reach(n.ResourceVersion)
		s.tell(tell, n.Name)
		s.watched = s.nodes.now()
		return nil
	}
	s.warnings.unexpected("node", obj)
	return nil
}

// Replace stores a whole list; the handler is called for differences only.
func (s *nodeStore) Replace(items []any, version string) error {
	since := gap{first: s.listed != nil, missed: s.listed == nil, watched: s.watched}
	s.observer.list(items, s.nodes.modelIn, s.nodes.needs.Load().Breakers)
	listed := make(map[string]bool, len(items))
	for _, item := range items {
		l, ok := s.nodes.modelIn(item)
		if !ok {
			s.warnings.unexpected("node", item)
			continue
		}
		listed[l.name] = true
		if journal.IsNewer(l.version, version) {
			version = l.version // the list of a fake API server
		}
		s.tell(s.nodes.update(l, since), l.name)
	}
	for _, name := range s.nodes.names() {
		if !listed[name] {
			s.tell(s.nodes.forget(name), name)
		}
	}
	s.nodes.reach(version)
	s.watched = s.nodes.now()
	if since.first {
		s.listed()
		s.listed = nil
	}
	if h, ok := s.handler.(ListObserver); ok {
		h.NodesListed()
	}
	return nil
}

// Bookmark notes that the watch has shown everything up to this version.
func (s *nodeStore) Bookmark(version string) error {
	s.nodes.reach(version)
	return nil
}

// Resync does nothing: the handler was called for everything.
func (s *nodeStore) Resync() error { return nil }

// tell calls the handler if it must be called.
func (s *nodeStore) tell(tell bool, node string) {
	if tell {
		s.handler.NodeChanged(node)
	}
}
