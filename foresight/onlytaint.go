package foresight

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// onlyTaint returns the estimate with this one taint only, and its earlier states.
func (e nodeEstimate) onlyTaint(t *v1.Taint) nodeEstimate {
	for _, view := range []*nodeView{&e.latest, &e.earliest} {
		view.Taints, view.Triggers, view.Audited = onlyTaint(view.Taints, t), onlyTaint(view.Triggers, t), onlyTaint(view.Audited, t)
	}
	return e
}

// onlyTaint returns the history of the taint up to it, in which all states before it have ended; none if the taint
// is not on the node.
func onlyTaint(histories []taint.History, t *v1.Taint) []taint.History {
	for _, history := range histories {
		for i := range history {
			if !stands(&history[i], t) {
				continue
			}
			states := slices.Clone(history[:i+1])
			for j := range i {
				states[j].Ended = true
			}
			return []taint.History{states}
		}
	}
	return nil
}
