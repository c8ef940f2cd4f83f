package taintmanager

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/taint"
)

// handler passes the source's notifications to the shards, to the journal and to the tracker of holds. It is every
// observer of package cluster.
type handler struct {
	*Manager

	// last is the last batch of changes of nodes. Only the goroutine of the nodes uses it.
	last []guard.NodeChange
}

func (h *handler) NodeChanged(name string) {
	h.shardOf(name).NodeChanged(name)
	h.journal.NodeChanged(name)
}

func (h *handler) NodesListed() { h.journal.NodesListed() }

func (h *handler) PodChanged(uid types.UID, node string) { h.shardOf(node).PodChanged(uid) }

// NodesChanged gives the shards the judge that follows from the changes before the cache has the nodes, so no shard
// judges a node that breakers have not seen.
func (h *handler) NodesChanged(changes []guard.NodeChange) {
	h.last = changes
	h.holds.Put(guard.NodesChanged{Changes: changes})
}

// NodesSynced lists the nodes of the last batch, which has all nodes.
func (h *handler) NodesSynced() {
	h.holds.Put(guard.NodesListed{Nodes: h.last})
	h.last = nil
}

func (h *handler) NamespacesChanged() { h.holds.Put(guard.NamespacesChanged{}) }

// own reports whether a pod belongs to this program: it is the pod in which this process runs, or it has the same
// controlling owner.
func (m *Manager) own(pod *taint.Pod) dispatch.Own {
	switch self := m.options.OwnPod; {
	case self == "":
		return dispatch.Other
	case pod.UID == self:
		return dispatch.Self
	case pod.Controller == nil:
		return dispatch.Other
	}
	self, _ := m.source.Pod(m.options.OwnPod)
	if self == nil || self.Controller == nil || self.Namespace != pod.Namespace || *self.Controller != *pod.Controller {
		return dispatch.Other
	}
	return dispatch.Sibling
}

// upcoming returns the earliest time at which a later eviction may be due; zero if there is no such eviction.
func (m *Manager) upcoming() (next time.Time) {
	for _, s := range m.shards {
		if at := s.Upcoming(); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
