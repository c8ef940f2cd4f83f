package journal

import (
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// continued is what is known of a taint if, as far as one can tell after a gap, it has been there all
// along; nil if it was lifted and set again meanwhile.
func continued(known taint.History, s *Sighting) taint.History {
	if len(known) == 0 || !s.Gap {
		return known
	}
	for i := range s.Taints {
		if t := &s.Taints[i]; counts(&known[0].Taint, t) && !renewed(known, s, t) {
			return known
		}
	}
	return nil
}

// renewed says whether the taint's timeAdded shows that it is another one than the one known. For
// not-ready and unreachable it shows that only if nobody watched then: the node lifecycle controller
// sets it anew at each swap of the two, and after a restart of its own.
func renewed(known taint.History, s *Sighting, t *v1.Taint) bool {
	if t.TimeAdded == nil || recorded(known, t) {
		return false
	}
	added := NextSecond(t.TimeAdded.Time)
	if swapped(t.Key) && !added.After(s.Watched) {
		return false
	}
	return added.After(known[len(known)-1].Since)
}

// recorded says whether the history has the taint with this very timeAdded.
func recorded(known taint.History, t *v1.Taint) bool {
	for i := range known {
		if same(&known[i].Taint, t) && t.TimeAdded.Equal(known[i].Taint.TimeAdded) {
			return true
		}
	}
	return false
}
