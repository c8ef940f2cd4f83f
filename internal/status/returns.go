package status

import (
	"maps"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// place is a workload on a node with a taint because of which its pods go.
type place struct {
	namespace string
	workload  taint.Owner
	node, key string
}

func placeOf(p *taint.Pod, v *taint.Verdict) place {
	return place{p.Namespace, p.Workload(), v.Node, v.Taint.Key}
}

// rounds are the times at which pods went from a place. Pods that were there together went in one round.
type rounds struct {
	n    int
	last time.Time // the first eviction of the last round
}

// markReturned marks the views of pods whose workload has come back to its node after at least two rounds of evictions.
func markReturned(views []*eviction.View, past []PastEviction) {
	all := map[place]rounds{}
	for i := range past {
		w := &past[i]
		if at := placeOf(w.Pod, &w.Verdict); w.Pod.Controller != nil && w.Pod.Bound.After(all[at].last) {
			all[at] = rounds{all[at].n + 1, w.At}
		}
	}
	maps.DeleteFunc(all, func(_ place, r rounds) bool { return r.n < 2 })
	if len(all) == 0 {
		return
	}
	for _, v := range views {
		if r := all[placeOf(v.Pod, &v.Verdict)]; v.Pod.Bound.After(r.last) {
			v.Returned = r.n
		}
	}
}
