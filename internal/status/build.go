package status

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// stamp returns the time as it is written: UTC, to the millisecond.
func stamp(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Millisecond)
}

func evictionOf(v *eviction.View) Eviction {
	return Eviction{
		UID:          string(v.Pod.UID),
		Namespace:    v.Pod.Namespace,
		Pod:          v.Pod.Name,
		Node:         v.Verdict.Node,
		Owner:        ownerOf(v.Pod),
		State:        v.State,
		Deadline:     stamp(v.Verdict.At),
		Taint:        v.Verdict.Taint.ToString(),
		ExposedSince: stamp(v.Verdict.Start),
		Because:      v.Because(),
		Own:          v.Own,
		Returned:     v.Returned,
		Policy:       v.Policy,
		Method:       strings.ToLower(string(v.Method)),
		DeleteAt:     stamp(v.DeleteAt),
		HeldBy:       heldBy(v),
		DeletedBy:    v.DeletedBy,
		WaitsFor:     v.Waits.String(),
		WaitsForRate: v.Waits.Rate,
		NextTry:      stamp(v.Next),
		Attempts:     v.Attempts,
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

// ownerOf returns the pod's workload; nil if the pod has no controller.
func ownerOf(p *taint.Pod) *Owner {
	if workload := p.Workload(); workload.Kind != "" {
		return (*Owner)(&workload)
	}
	return nil
}

// namedBudget finds the name in the API server's message about a PodDisruptionBudget that allows no disruption now, was
// not processed yet, or has a negative number of allowed disruptions.
var namedBudget = regexp.MustCompile(`disruption budget ([a-z0-9][a-z0-9.-]*) (?:needs|is|does) `)

// budgetOf returns the name of the PodDisruptionBudget that blocked the last call; empty if none did, or if the server
// does not name it.
func budgetOf(o *eviction.Outcome) string {
	if o.Kind != eviction.Blocked {
		return ""
	}
	if found := namedBudget.FindStringSubmatch(o.Message); found != nil {
		return found[1]
	}
	return ""
}

func totalsOf(views []*eviction.View, past Past) Totals {
	n := map[eviction.State]int{}
	for _, v := range views {
		n[v.State]++
	}
	return Totals{
		Scheduled: n[eviction.StateScheduled], Held: n[eviction.StateHeld], Due: n[eviction.StateDue],
		InFlight: n[eviction.StateInFlight], Blocked: n[eviction.StateBlocked], Refused: n[eviction.StateRefused],
		Delayed: n[eviction.StateDelayed], Terminating: n[eviction.StateTerminating], EvictedLastHour: past.LastHour(),
	}
}

// nodesOf counts the pending evictions on each node: one in the state terminating is not pending. If there are too
// many nodes, it returns only some of those with pending evictions.
func nodesOf(nodes []*taint.Node, views []*eviction.View) []Node {
	pending := make(map[string]int, len(nodes))
	for _, v := range views {
		if v.State != eviction.StateTerminating {
			pending[v.Verdict.Node]++
		}
	}
	list := make([]Node, 0, min(len(nodes), maxShown))
	for _, n := range nodes {
		if len(nodes) > maxShown && (pending[n.Name] == 0 || len(list) == maxShown) {
			continue
		}
		list = append(list, Node{Name: n.Name, UID: string(n.UID), Taints: taintsOf(n), Evictions: pending[n.Name]})
	}
	slices.SortFunc(list, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func sameNode(a, b Node) bool {
	return a.UID == b.UID && a.Evictions == b.Evictions && slices.Equal(a.Taints, b.Taints)
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

func evictedOf(w PastEviction) Evicted {
	return Evicted{
		UID: string(w.Pod.UID), Namespace: w.Pod.Namespace, Pod: w.Pod.Name, Node: w.Verdict.Node,
		Owner: ownerOf(w.Pod), Taint: w.Verdict.Taint.ToString(), Deadline: stamp(w.Verdict.At), At: stamp(w.At),
		Because: w.Verdict.Because(), DryRun: w.DryRun,
	}
}

func minuteOf(c Count) Minute {
	return Minute{
		Start: c.Start.UTC(), Evicted: c.Evicted,
		MeanLateSeconds: seconds(c.Late / time.Duration(c.Evicted)), MaxLateSeconds: seconds(c.MaxLate),
	}
}

// seconds returns a duration in seconds, to the millisecond.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
