package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// renewed reports whether, as far as this can be seen after a gap, the known taint was removed and set again in
// between.
func renewed(known taint.History, s *Observation) bool {
	for i := range s.Taints {
		if t := &s.Taints[i]; counts(&known[0].Taint, t) && !isLater(known, s, t) {
			return false
		}
	}
	return true
}

// isLater reports whether the taint's timeAdded shows that it is another one than the known one. For not-ready and
// unreachable it shows this only if no process watched at that time: the node lifecycle controller sets timeAdded anew
// whenever it swaps the two, and after it has restarted.
func isLater(known taint.History, s *Observation, t *v1.Taint) bool {
	if t.TimeAdded == nil || isRecorded(known, t) {
		return false
	}
	added := s.moment(t.TimeAdded.Time)
	if swapped(t.Key) && !added.After(s.Watched) {
		return false
	}
	return added.After(slices.MaxFunc(known, bySince).Since)
}

// isRecorded reports whether the history has the taint with exactly this timeAdded.
func isRecorded(known taint.History, t *v1.Taint) bool {
	return slices.ContainsFunc(known, func(s taint.State) bool {
		return same(&s.Taint, t) && t.TimeAdded.Equal(s.Taint.TimeAdded)
	})
}
