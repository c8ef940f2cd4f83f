package status_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAnEvictionIsShownAndCountedInItsState(t *testing.T) {
	totals := map[eviction.State]status.Totals{
		eviction.StateScheduled: {Scheduled: 1}, eviction.StateHeld: {Held: 1}, eviction.StateDue: {Due: 1},
		eviction.StateInFlight: {InFlight: 1}, eviction.StateBlocked: {Blocked: 1}, eviction.StateRefused: {Refused: 1},
		eviction.StateDelayed: {Delayed: 1}, eviction.StateTerminating: {Terminating: 1},
	}
	for _, state := range eviction.States() {
		v := view("a", "n", 5)
		v.State = state
		s := snapshotOf(t, &world{views: []eviction.View{v}})
		if s.Evictions[0].State != state || s.Totals != totals[state] || s.Totals == (status.Totals{}) {
			t.Errorf("it is %s, want %s, and the totals are %+v", s.Evictions[0].State, state, s.Totals)
		}
	}
}

func TestAnEvictionSaysWhatWhenAndWhy(t *testing.T) {
	owned := view("b", "n", 400)
	owned.Pod.Controller = &taint.Owner{Kind: "ReplicaSet", Name: "web-7d9c6"}
	owned.Pod.Labels = map[string]string{"pod-template-hash": "7d9c6"}
	guarded := view("c", "n", 400)
	guarded.Policy, guarded.Method, guarded.DeleteAt = "maintenance", policy.Evict, at(900)
	guarded.Waits = eviction.Wait{Cause: eviction.WaitsForRate, Rate: "cluster"}
	guarded.DeletedBy = taint.DaemonSetController
	guarded.Held = policy.Held{By: policy.HeldByBreaker, Name: "outage", Group: "eu-1a", Verdict: guarded.Verdict}
	for _, c := range []struct {
		view eviction.View
		want func(e *status.Eviction) // what differs from a plain one
	}{
		{delayed(view("a", "n", 400), eviction.Blocked, "the budget web needs 3 pods"), func(e *status.Eviction) {
			e.State, e.NextTry, e.Attempts = eviction.StateBlocked, at(460), 2
			e.Cause, e.Message = "pdb", "the budget web needs 3 pods"
		}},
		{owned, func(e *status.Eviction) { e.Owner = &status.Owner{Kind: "Deployment", Name: "web"} }},
		{guarded, func(e *status.Eviction) {
			e.Policy, e.Method, e.DeleteAt, e.WaitsForRate = "maintenance", "evict", at(900), "cluster"
			e.WaitsFor, e.HeldBy = guarded.Waits.String(), "breaker outage (eu-1a)"
			e.DeletedBy = "the DaemonSet controller"
			e.Because += taint.DeletesDaemons
		}},
	} {
		name := c.view.Pod.Name
		want := status.Eviction{
			UID: "uid-" + name, Namespace: "ns", Pod: name, Node: "n", State: eviction.StateScheduled,
			Deadline: at(400), NextTry: at(400), Taint: "gpu=broken:NoExecute", ExposedSince: at(100),
			Because: c.view.Verdict.Because(),
		}
		c.want(&want)
		if diff := cmp.Diff(want, shownAs(t, c.view)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEvictionsComeInTheOrderOfTheirDeadlines(t *testing.T) {
	s := snapshotOf(t, &world{views: []eviction.View{view("z", "n", 9), view("b", "n", 5), view("a", "n", 5)}})
	var got []string
	for _, e := range s.Evictions {
		got = append(got, e.Pod)
	}
	if diff := cmp.Diff([]string{"a", "b", "z"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNodesTellTheirTaintsOfNowAndWhatIsPendingOnThem(t *testing.T) {
	n := node("n", 7)
	was := v1.Taint{Key: "gpu", Value: "slow", Effect: v1.TaintEffectNoExecute}
	n.Taints[0] = append(taint.History{{Taint: was, Since: at(1), Ended: true}}, n.Taints[0]...)
	accepted := view("c", "n", 5)
	accepted.State = eviction.StateTerminating
	s := snapshotOf(t, &world{nodes: []*taint.Node{node("z", 3), n}, views: []eviction.View{view("a", "n", 5), view("b", "n", 6), accepted}})
	want := []status.Node{
		{Name: "n", UID: "uid-n", Evictions: 2, Taints: []status.Taint{{Taint: "gpu=broken:NoExecute", Since: at(7)}}},
		{Name: "z", UID: "uid-z", Taints: []status.Taint{{Taint: "gpu=broken:NoExecute", Since: at(3)}}},
	}
	if diff := cmp.Diff(want, s.Nodes); diff != "" {
		t.Error(diff)
	}
}

func TestAHistoryTellsTheLatestAndCountsTheHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		end := func(name string, deadline, ended float64, kind eviction.Kind) {
			w.history.Ended(evicted(name, deadline), eviction.Outcome{Kind: kind}, at(ended))
		}
		end("long ago", 10, 10, eviction.Accepted)
		end("a", 3600, 3600.5, eviction.Accepted)
		end("b", 3601, 3602.5, eviction.Accepted)
		end("refused", 3601, 3602, eviction.Refused)
		end("c", 3700, 3700, eviction.DryRun)
		time.Sleep(3700 * time.Second)
		s := snapshotOf(t, w)
		if s.Totals.EvictedLastHour != 3 {
			t.Errorf("evicted in the last hour: %d", s.Totals.EvictedLastHour)
		}
		want := []status.Minute{
			{Start: at(3600), Evicted: 2, MeanLateSeconds: 1, MaxLateSeconds: 1.5},
			{Start: at(3660), Evicted: 1},
		}
		if diff := cmp.Diff(want, s.Minutes); diff != "" {
			t.Error(diff)
		}
		var got []string
		for _, e := range s.Evicted {
			got = append(got, e.Pod)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" || !s.Evicted[2].DryRun || s.Evicted[1].DryRun {
			t.Error(diff, s.Evicted)
		}
	})
}

func TestAHistoryIsBoundedAndAllocatesNothingOnceFull(t *testing.T) {
	var h status.History
	e, ok := evicted("a", 0), eviction.Outcome{Kind: eviction.Accepted}
	for range 5000 {
		h.Ended(e, ok, at(1))
	}
	if p := h.Past(at(2)); len(p.Latest) != 4096 || p.Total != 5000 || p.LastHour() != 5000 {
		t.Errorf("holds %d of %d, %d in the last hour", len(p.Latest), p.Total, p.LastHour())
	}
	if n := testing.AllocsPerRun(100, func() { h.Ended(e, ok, at(3)) }); n != 0 {
		t.Errorf("%v allocations for each eviction", n)
	}
}

func TestAClockThatIsSetBackDisturbsNoHistory(t *testing.T) {
	var h status.History
	h.Ended(evicted("a", 0), eviction.Outcome{Kind: eviction.Accepted}, at(7200))
	h.Ended(evicted("b", 0), eviction.Outcome{Kind: eviction.Accepted}, time.Unix(-90, 0))
	if p := h.Past(time.Unix(-80, 0)); p.LastHour() != 1 {
		t.Errorf("got %+v", p.Minutes)
	}
}

func TestTroubleAndWarningsAreToldInWords(t *testing.T) {
	m := snapshotOf(t, &world{trouble: errors.New("pods can't be watched since 10:00")}).Manager
	if m.Trouble != "pods can't be watched since 10:00" || m.Warning != "" || m.Version != "v1" || !m.Synced {
		t.Errorf("got %+v", m)
	}
	m = snapshotOf(t, &world{warning: "the original runs, too"}).Manager
	if m.Trouble != "" || m.Warning != "the original runs, too" {
		t.Errorf("got %+v", m)
	}
}

func TestABlockedEvictionNamesItsBudget(t *testing.T) {
	for _, c := range []struct {
		kind          eviction.Kind
		message, want string
	}{
		{eviction.Blocked, "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web-1.a needs 3 healthy pods and has 3 currently", "web-1.a"},
		{eviction.Blocked, "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web is still being processed by the server.", "web"},
		{eviction.Blocked, `poddisruptionbudget.policy "web" is forbidden: pdb disruptions allowed is negative The disruption budget web does not allow evicting pods currently: pdb disruptions allowed is negative`, "web"},
		{eviction.Blocked, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.", ""},
		{eviction.Blocked, "Cannot evict pod as it would violate the pod's disruption budget.", ""},
		{eviction.Refused, "The disruption budget web needs 3 healthy pods and has 3 currently", ""},
	} {
		v := delayed(view("p", "n", 60), c.kind, c.message)
		if got := shownAs(t, v).Budget; got != c.want {
			t.Errorf("%s: got %q, want %q", c.message, got, c.want)
		}
	}
}

func TestOfManyEvictionsThePageShowsAPart(t *testing.T) {
	const n = 10_010
	w := &world{}
	for i := range n {
		name := fmt.Sprint("node-", i)
		w.views = append(w.views, view(fmt.Sprint("pod-", i), name, float64(i)))
		w.nodes = append(w.nodes, node(name, 0))
	}
	s := snapshotOf(t, w)
	const want = "The 10000 evictions with the earliest deadlines of 10010 are shown, and 10000 tainted nodes of 10010"
	if len(s.Evictions) != 10_000 || len(s.Nodes) != 10_000 || s.Totals.Scheduled != n || s.Manager.Part != want {
		t.Errorf("got %d evictions and %d nodes of %d: %s", len(s.Evictions), len(s.Nodes), s.Totals.Scheduled, s.Manager.Part)
	}
	var list status.EvictionList
	if get(t, w.server(), "/api/v1/evictions?node=node-10009", &list); list.Total != 0 || list.Part != want {
		t.Errorf("got %d: %s", list.Total, list.Part)
	}
}
