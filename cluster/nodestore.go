package cluster

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/journal"
)

// nodeStore is the store of a reflector for nodes: the watch puts in whole objects, a list whole objects or models.
// Only the reflector's goroutine uses it.
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
func (ns *nodeStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		n, ok := obj.(*v1.Node)
		if !ok || n == nil {
			return obj, nil
		}
		l := ns.nodes.modelOf(n)
		l.taints = slices.Clone(l.taints)
		return &l, nil
	}
}

// Add stores a node that the watch has shown for the first time.
func (ns *nodeStore) Add(obj any) error { return ns.Update(obj) }

// Update stores a node that the watch has shown.
func (ns *nodeStore) Update(obj any) error {
	if n, ok := obj.(*v1.Node); ok && n != nil {
		l := ns.nodes.modelOf(n)
		ns.observer.update(l.name, &l)
		tell := ns.nodes.update(l, gap{})
		ns.nodes.reach(l.version)
		ns.tell(tell, l.name)
		ns.watched = ns.nodes.now()
		return nil
	}
	ns.warnings.unexpected("node", obj)
	return nil
}

// Delete removes a node that was deleted.
func (ns *nodeStore) Delete(obj any) error {
	if n, ok := obj.(*v1.Node); ok && n != nil {
		ns.observer.update(n.Name, nil)
		tell := ns.nodes.forget(n.Name)
		ns.nodes.reach(n.ResourceVersion)
		ns.tell(tell, n.Name)
		ns.watched = ns.nodes.now()
		return nil
	}
	ns.warnings.unexpected("node", obj)
	return nil
}

// Replace stores a whole list; the handler is called for differences only.
func (ns *nodeStore) Replace(items []any, version string) error {
	since := gap{first: ns.listed != nil, missed: ns.listed == nil, watched: ns.watched}
	ns.observer.list(items, ns.nodes.modelIn, ns.nodes.needs.Load().Breakers)
	listed := make(map[string]bool, len(items))
	for _, item := range items {
		l, ok := ns.nodes.modelIn(item)
		if !ok {
			ns.warnings.unexpected("node", item)
			continue
		}
		listed[l.name] = true
		if journal.IsNewer(l.version, version) {
			version = l.version // the list of a fake API server
		}
		ns.tell(ns.nodes.update(l, since), l.name)
	}
	for _, name := range ns.nodes.names() {
		if !listed[name] {
			ns.tell(ns.nodes.forget(name), name)
		}
	}
	ns.nodes.reach(version)
	ns.watched = ns.nodes.now()
	if since.first {
		ns.listed()
		ns.listed = nil
	}
	if h, ok := ns.handler.(ListObserver); ok {
		h.NodesListed()
	}
	return nil
}

// Bookmark notes that the watch has shown everything up to this version.
func (ns *nodeStore) Bookmark(version string) error {
	ns.nodes.reach(version)
	return nil
}

// Resync does nothing: the handler was called for everything.
func (ns *nodeStore) Resync() error { return nil }

// tell calls the handler if it must be called.
func (ns *nodeStore) tell(tell bool, node string) {
	if tell {
		ns.handler.NodeChanged(node)
	}
}
