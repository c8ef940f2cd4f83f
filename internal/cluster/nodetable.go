package cluster

import (
	"iter"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// nodeTable takes in nodes, and calls the handler for their changes.
type nodeTable struct {
	nodes    *nodes
	handler  Handler
	observer observer

	listed  bool      // the first list is in
	watched time.Time // when the watch, or a list, last delivered something
}

// newNodeStore returns a reflector's store for nodes.
func newNodeStore(n *nodes, h Handler, w *warnings, completed func()) *store[*v1.Node, nodeModel] {
	return &store[*v1.Node, nodeModel]{"node", &nodeTable{nodes: n, handler: h, observer: observerOf(h)}, w, completed}
}

func (nt *nodeTable) value(n *v1.Node, listed bool) nodeModel {
	m := nt.nodes.modelOf(n)
	if listed {
		m.taints = slices.Clone(m.taints)
	}
	return m
}

// update takes in a node that the watch has shown.
func (nt *nodeTable) update(m nodeModel) {
	nt.observer.add(m.name, &m)
	nt.observer.pass()
	notify := nt.nodes.update(m, gap{})
	nt.delivered(m.version)
	if notify {
		nt.handler.NodeChanged(m.name)
	}
}

// remove takes in that a node was deleted.
func (nt *nodeTable) remove(n *v1.Node) {
	nt.observer.add(n.Name, nil)
	nt.observer.pass()
	notify := nt.nodes.remove(n.Name)
	nt.delivered(n.ResourceVersion)
	if notify {
		nt.handler.NodeChanged(n.Name)
	}
}

// replace takes in a list of all nodes; the handler is called for differences only.
func (nt *nodeTable) replace(list iter.Seq[nodeModel], version string) {
	since := gap{first: !nt.listed, missed: nt.listed, watched: nt.watched}
	nt.observer.beginList(nt.nodes.needs.Load().Breakers)
	listed, changed := map[string]bool{}, []string(nil)
	for m := range list {
		listed[m.name] = true
		if journal.IsNewer(m.version, version) {
			version = m.version // the list of a fake API server
		}
		nt.observer.add(m.name, &m)
		if nt.nodes.update(m, since) {
			changed = append(changed, m.name)
		}
	}
	for _, name := range nt.nodes.names() {
		if listed[name] {
			continue
		}
		nt.observer.add(name, nil)
		if nt.nodes.remove(name) {
			changed = append(changed, name)
		}
	}
	nt.listed = true
	nt.delivered(version)
	nt.notify(changed)
}

// notify calls the handler for the changes that a list has shown.
func (nt *nodeTable) notify(changed []string) {
	nt.observer.pass()
	for _, name := range changed {
		nt.handler.NodeChanged(name)
	}
	if o, ok := nt.handler.(ListObserver); ok {
		o.NodesListed()
	}
}

// delivered notes that the API server has shown everything up to this version.
func (nt *nodeTable) delivered(version string) {
	nt.nodes.reach(version)
	nt.watched = nt.nodes.now()
}

func (nt *nodeTable) reached(version string) { nt.nodes.reach(version) }
