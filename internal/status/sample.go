package status

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// sample is the state of the source at one moment. It is immutable.
type sample struct {
	head  Snapshot         // with empty lists of evictions, nodes and past evictions
	views []*eviction.View // in any order
	nodes []Node
	past  Past

	// ordered returns the views, earliest deadline first, then by UID.
	ordered func() []*eviction.View
}

func newSample(at time.Time, m Manager, views []eviction.View, nodes []*taint.Node, past Past) *sample {
	s := &sample{views: make([]*eviction.View, len(views)), past: past}
	for i := range views {
		s.views[i] = &views[i]
	}
	markReturned(s.views, past.Latest)
	s.nodes = nodesOf(nodes, s.views)
	s.head = Snapshot{
		TypeMeta: TypeMeta{APIVersion, KindSnapshot}, At: stamp(at), Manager: m, Totals: totalsOf(s.views, past),
		Evictions: []Eviction{}, Nodes: []Node{}, Evicted: []Evicted{}, Minutes: converted(past.Minutes, minuteOf),
	}
	s.ordered = sync.OnceValue(func() []*eviction.View { return sorted(s.views) })
	return s
}

// showPart says how many evictions and nodes are left out. Evictions that are left out have later deadlines, so they
// count as scheduled.
func (s *sample) showPart(evictions, nodes int) {
	if left := nodes - len(s.nodes); evictions > 0 || left > 0 {
		s.head.Totals.Scheduled += evictions
		s.head.Manager.Part = fmt.Sprintf("The %d evictions with the earliest deadlines of %d are shown, and %d tainted nodes of %d",
			len(s.views), len(s.views)+evictions, len(s.nodes), nodes)
	}
}

func sorted(views []*eviction.View) []*eviction.View {
	return slices.SortedFunc(slices.Values(views), func(a, b *eviction.View) int {
		return cmp.Or(stamp(a.Verdict.At).Compare(stamp(b.Verdict.At)), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
}

// markReturned marks the views of pods whose workload has come back to its node after at least two rounds of evictions.
func markReturned(views []*eviction.View, past []PastEviction) {
	origin := func(p *taint.Pod, v *taint.Verdict) eviction.Origin {
		return eviction.Origin{Namespace: p.Namespace, Workload: p.Workload().String(), Node: v.Node, Key: v.Taint.Key}
	}
	rounds := eviction.Rounds{}
	for i := range past {
		w := &past[i]
		rounds.Add(origin(w.Pod, &w.Verdict), w.Pod.Bound, w.At)
	}
	if len(rounds.Repeated()) == 0 {
		return
	}
	for _, v := range views {
		v.Returned = rounds.Returned(origin(v.Pod, &v.Verdict), v.Pod.Bound)
	}
}

// alike reports whether the samples are equal except for their times, tags and lists.
func (s *sample) alike(other *sample) bool {
	own := s.head
	own.At, own.Tag = other.head.At, other.head.Tag
	return reflect.DeepEqual(own, other.head)
}

// sameView reports whether two views of a pod are shown alike. A cache may return the same pod as a different object
// each time, so what views point to is compared by content.
func sameView(a, b *eviction.View) bool {
	x, y := *a, *b
	if x.Pod.Workload() != y.Pod.Workload() || !sameReason(&x.Verdict, &y.Verdict) {
		return false
	}
	for _, v := range []*eviction.View{&x, &y} {
		v.Pod, v.Verdict.Taint, v.Verdict.Toleration, v.Held.Verdict = nil, nil, nil, taint.Verdict{}
	}
	return x == y
}

func sameReason(a, b *taint.Verdict) bool {
	if (a.Toleration == nil) != (b.Toleration == nil) {
		return false
	}
	return a.Taint.MatchTaint(b.Taint) && a.Taint.Value == b.Taint.Value &&
		(a.Toleration == nil || a.Toleration.MatchToleration(b.Toleration))
}
