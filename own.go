package taintmanager

import (
	"time"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/taint"
)

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
