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

	watched time.Time // when the watch, or a list, last delivered something; zero before the first list
}

// newNodeStore returns a reflector's store for nodes.
func newNodeStore(n *nodes, h Handler, w *warnings, completed func()) *store[*v1.Node, nodeModel] {
	return &store[*v1.Node, nodeModel]{"node", &nodeTable{nodes: n, handler: h, observer: observerOf(h)}, w, completed}
}

func (nt *nodeTable) value(n *v1.Node, _ bool) nodeModel { return nt.nodes.modelOf(n) }

// update takes in a node that the watch has shown.
func (nt *nodeTable) update(m nodeModel) {
	nt.observer.add(m.Name, &m.Node)
	nt.observer.pass()
	notify := nt.nodes.update(m, gap{})
	nt.delivered(m.version)
	if notify {
		nt.handler.NodeChanged(m.Name)
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

// replace takes in a list of all nodes; the handler is called for differences only. Breakers hear of the whole list
// before the cache shows any node of it.
func (nt *nodeTable) replace(list iter.Seq[nodeModel], version string) {
	models := slices.Collect(list)
	gone := nt.missing(models)
	nt.observeList(models, gone)
	since := gap{listed: true, watched: nt.watched}
	var changed []string
	for i := range models {
		if journal.IsNewer(models[i].version, version) {
			version = models[i].version // the list of a fake API server
		}
		if nt.nodes.update(models[i], since) {
			changed = append(changed, models[i].Name)
		}
	}
	changed = append(changed, slices.DeleteFunc(gone, func(name string) bool { return !nt.nodes.remove(name) })...)
	nt.delivered(version)
	for _, name := range changed {
		nt.handler.NodeChanged(name)
	}
	if o, ok := nt.handler.(ListObserver); ok {
		o.NodesListed()
	}
}

// missing returns the names of the nodes that a list lacks.
func (nt *nodeTable) missing(list []nodeModel) (names []string) {
	listed := make(map[string]bool, len(list))
	for i := range list {
		listed[list[i].Name] = true
	}
	return slices.DeleteFunc(nt.nodes.names(), func(name string) bool { return listed[name] })
}

// observeList passes a list on to breakers.
func (nt *nodeTable) observeList(list []nodeModel, gone []string) {
	nt.observer.beginList(nt.nodes.needs.Load().Breakers)
	for i := range list {
		nt.observer.add(list[i].Name, &list[i].Node)
	}
	for _, name := range gone {
		nt.observer.add(name, nil)
	}
	nt.observer.pass()
}

// delivered notes that the API server has shown everything up to this version.
func (nt *nodeTable) delivered(version string) {
	nt.nodes.reach(version)
	nt.watched = nt.nodes.now()
}

func (nt *nodeTable) reached(version string) { nt.nodes.reach(version) }
