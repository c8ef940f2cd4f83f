package journal

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// renewed says whether, as far as one can tell after a gap, the taint that is known was lifted and set again
// meanwhile.
func renewed(known taint.History, s *Observation) bool {
	for i := range s.Taints {
		if t := &s.Taints[i]; counts(&known[0].Taint, t) && !isLater(known, s, t) {
			return false
		}
	}
	return true
}

// isLater says whether the taint's timeAdded shows that it is another one than the one known. For
// not-ready and unreachable it shows that only if nobody watched then: the node lifecycle controller
// sets it anew at each swap of the two, and after a restart of its own.
func isLater(known taint.History, s *Observation, t *v1.Taint) bool {
	if t.TimeAdded == nil || isRecorded(known, t) {
		return false
	}
	added := s.moment(t.TimeAdded.Time)
	if swapped(t.Key) && !added.After(s.Watched) {
		return false
	}
	return added.After(latest(known))
}

// latest is when the youngest state began.
func latest(states taint.History) (since time.Time) {
	for i := range states {
		if i == 0 || states[i].Since.After(since) {
			since = states[i].Since
		}
	}
	return since
}

// isRecorded says whether the history has the taint with this very timeAdded.
func isRecorded(known taint.History, t *v1.Taint) bool {
	for i := range known {
		if same(&known[i].Taint, t) && t.TimeAdded.Equal(known[i].Taint.TimeAdded) {
			return true
		}
	}
	return false
}
