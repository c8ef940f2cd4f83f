package cluster

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// nodeStore is what a reflector feeds with nodes: with whole objects by the watch, with whole objects
// or with looks by a list. It is for the reflector's goroutine.
type nodeStore struct {
	nodes    *nodes
	handler  Handler
	warnings *warnings

	// listed is called when the first list is in; nil from then on.
	listed func()

	// watched is when the watch, or a list, has last shown anything.
	watched time.Time
}

var _ cache.TransformingStore = (*nodeStore)(nil)

// Transformer trims the nodes of a streamed list as they come.
func (s *nodeStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		n, ok := obj.(*v1.Node)
		if !ok || n == nil {
			return obj, nil
		}
		l := lookAt(n)
		l.taints = slices.Clone(l.taints)
		return &l, nil
	}
}

// Add takes in a node that the watch has shown for the first time.
func (s *nodeStore) Add(obj any) error { return s.Update(obj) }

// Update takes in a node that the watch has shown.
func (s *nodeStore) Update(obj any) error {
	if n, ok := obj.(*v1.Node); ok && n != nil {
		s.see(lookAt(n), gap{})
		s.watched = s.nodes.now()
		return nil
	}
	s.warnings.unexpected("node", obj)
	return nil
}

// Delete forgets a node that is gone.
func (s *nodeStore) Delete(obj any) error {
	if n, ok := obj.(*v1.Node); ok && n != nil {
		s.forget(n.Name)
		s.watched = s.nodes.now()
		return nil
	}
	s.warnings.unexpected("node", obj)
	return nil
}

// Replace takes in a whole list: only what differs is told.
func (s *nodeStore) Replace(items []any, _ string) error {
	since := gap{first: s.listed != nil, missed: s.listed == nil, watched: s.watched}
	listed := make(map[string]bool, len(items))
	for _, item := range items {
		l, ok := lookIn(item)
		if !ok {
			s.warnings.unexpected("node", item)
			continue
		}
		listed[l.name] = true
		s.see(l, since)
	}
	for _, name := range s.nodes.names() {
		if !listed[name] {
			s.forget(name)
		}
	}
	s.watched = s.nodes.now()
	if since.first {
		s.listed()
		s.listed = nil
	}
	return nil
}

// Resync does nothing: the handler was told of everything.
func (s *nodeStore) Resync() error { return nil }

func (s *nodeStore) see(l look, g gap) {
	if s.nodes.see(l, g) {
		s.handler.NodeChanged(l.name)
	}
}

func (s *nodeStore) forget(name string) {
	if s.nodes.forget(name) {
		s.handler.NodeChanged(name)
	}
}

// lookIn is the look at the node in an item of a list.
func lookIn(item any) (look, bool) {
	switch n := item.(type) {
	case *look:
		return *n, true
	case *v1.Node:
		if n != nil {
			return lookAt(n), true
		}
	}
	return look{}, false
}
