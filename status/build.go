package status

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// Facts are what a snapshot is made of. They are immutable once shared.
type Facts struct {
	At      time.Time
	Manager Manager

	// Views of the evictions, in any order, each pod once.
	Views []eviction.View

	// Nodes that carry NoExecute taints, in any order.
	Nodes []*taint.Node

	// Past comes from a [History].
	Past Past
}

// Build makes the snapshot of the facts.
func Build(f Facts) Snapshot {
	s := head(f)
	s.Evictions = evictionsOf(sorted(f.Views))
	return s
}

// head returns the snapshot without its evictions.
func head(f Facts) Snapshot {
	return Snapshot{
		TypeMeta: TypeMeta{APIVersion, KindSnapshot},
		At:       stamp(f.At),
		Manager:  f.Manager,
		Totals:   totals(f),
		Nodes:    nodesOf(f),
		Evicted:  evictedOf(f.Past.Latest),
		Minutes:  minutesOf(f.Past.Minutes),
	}
}

// stamp returns the time as it is written: UTC, to the millisecond.
func stamp(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Millisecond)
}

// sorted returns a copy in the order of deadlines, then of UIDs: the order of paging.
func sorted(views []eviction.View) []eviction.View {
	views = slices.Clone(views)
	slices.SortFunc(views, func(a, b eviction.View) int {
		return cmp.Or(stamp(a.Verdict.At).Compare(stamp(b.Verdict.At)), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	return views
}

// evictionsOf never returns nil, which JSON would write as null.
func evictionsOf(views []eviction.View) []Eviction {
	list := make([]Eviction, 0, len(views))
	for i := range views {
		list = append(list, evictionOf(&views[i]))
	}
	return list
}

func evictionOf(v *eviction.View) Eviction {
	return Eviction{
		UID:          string(v.Pod.UID),
		Namespace:    v.Pod.Namespace,
		Pod:          v.Pod.Name,
		Node:         v.Verdict.Node,
		Owner:        ownerOf(v.Pod),
		State:        v.Word(),
		Deadline:     stamp(v.Verdict.At),
		Taint:        v.Verdict.Taint.ToString(),
		ExposedSince: stamp(v.Verdict.Start),
		Because:      v.Verdict.Because(),
		Policy:       v.Policy,
		Method:       strings.ToLower(string(v.Method)),
		DeleteAt:     stamp(v.DeleteAt),
		HeldBy:       heldBy(v),
		WaitsFor:     v.Waits.String(),
		WaitsForRate: v.Waits.Rate,
		NextTry:      stamp(v.Next),
		Attempts:     v.Attempts,
		SlowPlace:    v.Waits.Cause == eviction.WaitsForSlowPlace,
		Cause:        v.Last.Cause,
		Message:      v.Last.Message,
		Budget:       budgetOf(&v.Last),
	}
}

func heldBy(v *eviction.View) string {
	if v.Held.By == 0 {
		return ""
	}
	return v.Held.String()
}

// ownerOf returns the pod's workload; nil when nobody controls the pod.
func ownerOf(p *taint.Pod) *Owner {
	if workload := p.Workload(); workload.Kind != "" {
		return &Owner{workload.Kind, workload.Name}
	}
	return nil
}

// namedBudget finds the name in the API server's message about a PodDisruptionBudget that permits no further
// disruption, or that is not processed yet.
var namedBudget = regexp.MustCompile(`disruption budget ([a-z0-9][a-z0-9.-]*) (?:needs|is) `)

// budgetOf returns the name of the PodDisruptionBudget that has blocked the last call; empty if none
// has, or if the server does not name it.
func budgetOf(o *eviction.Outcome) string {
	if o.Kind != eviction.Blocked {
		return ""
	}
	if found := namedBudget.FindStringSubmatch(o.Message); found != nil {
		return found[1]
	}
	return ""
}

func totals(f Facts) Totals {
	t := Totals{EvictedLastHour: f.Past.LastHour()}
	for i := range f.Views {
		*t.of(f.Views[i].Word())++
	}
	return t
}

// of returns the count of a state.
func (t *Totals) of(state string) *int {
	switch state {
	case Held:
		return &t.Held
	case Due:
		return &t.Due
	case InFlight:
		return &t.InFlight
	case Blocked:
		return &t.Blocked
	case Refused:
		return &t.Refused
	case Delayed:
		return &t.Delayed
	case Done:
		return &t.Done
	}
	return &t.Scheduled
}

// nodesOf counts what is pending on each node: what is done is not.
func nodesOf(f Facts) []Node {
	pending := make(map[string]int, len(f.Nodes))
	for i := range f.Views {
		if f.Views[i].State != eviction.Done {
			pending[f.Views[i].Verdict.Node]++
		}
	}
	list := make([]Node, 0, len(f.Nodes))
	for _, n := range f.Nodes {
		list = append(list, Node{Name: n.Name, UID: string(n.UID), Taints: taintsOf(n), Evictions: pending[n.Name]})
	}
	slices.SortFunc(list, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// taintsOf returns the taints that are on the node now.
func taintsOf(n *taint.Node) []Taint {
	list := []Taint{}
	for _, history := range slices.Concat(n.Taints, n.Triggers) {
		for i := range history {
			if state := &history[i]; !state.Ended {
				list = append(list, Taint{Taint: state.Taint.ToString(), Since: stamp(state.Since)})
			}
		}
	}
	return list
}

func evictedOf(latest []PastEviction) []Evicted {
	list := make([]Evicted, 0, len(latest))
	for i := range latest {
		w := &latest[i]
		list = append(list, Evicted{
			UID: string(w.Pod.UID), Namespace: w.Pod.Namespace, Pod: w.Pod.Name,
			Node: w.Verdict.Node, Owner: ownerOf(w.Pod), Taint: w.Verdict.Taint.ToString(),
			Deadline: stamp(w.Verdict.At),
			At:       stamp(w.At), Because: w.Verdict.Because(), DryRun: w.DryRun,
		})
	}
	return list
}

func minutesOf(counts []Count) []Minute {
	list := make([]Minute, 0, len(counts))
	for _, c := range counts {
		list = append(list, Minute{
			Start: c.Start.UTC(), Evicted: c.Evicted,
			MeanLateSeconds: seconds(c.Late / time.Duration(c.Evicted)), MaxLateSeconds: seconds(c.MaxLate),
		})
	}
	return list
}

// seconds returns a duration in seconds, to the millisecond.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// byUID finds views by their pods' UIDs.
func byUID(views []eviction.View) map[types.UID]*eviction.View {
	index := make(map[types.UID]*eviction.View, len(views))
	for i := range views {
		index[views[i].Pod.UID] = &views[i]
	}
	return index
}
