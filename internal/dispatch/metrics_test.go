package dispatch

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// registryOf returns a registry with the metrics of the dispatcher.
func registryOf(u *user) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(u.Collectors()...)
	return registry
}

// gauge returns the value of a metric of taint_manager without labels.
func (u *user) gauge(name string) float64 {
	u.t.Helper()
	families, err := registryOf(u).Gather()
	if err != nil {
		u.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "taint_manager_"+name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	u.t.Fatalf("there is no metric %s", name)
	return 0
}

// inTurn gives the outcomes one after the other.
func inTurn(all ...eviction.Outcome) evictor {
	var n atomic.Int32
	return func(context.Context) eviction.Outcome { return all[n.Add(1)-1] }
}

func TestCallsAreCountedByOutcomeAndOnlyAcceptedOnesAsDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 4}, Evictor: inTurn(
			succeeds, eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseRBAC}, eviction.Outcome{Kind: eviction.Failed, Cause: "a caller's own"},
		)})
		defer u.lead()()
		u.offer(3)
		synctest.Wait()
		want := `
# HELP taint_eviction_controller_pod_deletions_total Pods whose deletion the API server has accepted.
# TYPE taint_eviction_controller_pod_deletions_total counter
taint_eviction_controller_pod_deletions_total 1
# HELP taint_manager_eviction_calls_total Eviction calls by outcome and cause.
# TYPE taint_manager_eviction_calls_total counter
taint_manager_eviction_calls_total{cause="",outcome="accepted"} 1
taint_manager_eviction_calls_total{cause="other",outcome="failed"} 1
taint_manager_eviction_calls_total{cause="rbac",outcome="refused"} 1
`
		if err := testutil.GatherAndCompare(registryOf(u), strings.NewReader(want),
			"taint_eviction_controller_pod_deletions_total", "taint_manager_eviction_calls_total"); err != nil {
			t.Error(err)
		}
	})
}

func TestTheGaugesShowWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 3}, Evictor: lasting(10 * time.Second)})
		u.offer(8)
		want := func(when string, inFlight, slow float64) {
			t.Helper()
			synctest.Wait()
			got := [3]float64{u.gauge("eviction_places"), u.gauge("evictions_in_flight"), u.gauge("slow_evictions_in_flight")}
			if got != [3]float64{9, inFlight, slow} {
				t.Errorf("%s: places, in flight, slow are %v", when, got)
			}
		}
		want("before the term", 0, 0)
		defer u.lead()()
		want("in the term", 3, 0)
		time.Sleep(1100 * time.Millisecond)
		want("after a second", 6, 3)
		time.Sleep(time.Minute)
		want("in the end", 0, 0)
	})
}

func TestPausesShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttled := eviction.Outcome{Kind: eviction.Throttled, RetryAfter: time.Second}
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 1}, Evictor: inTurn(unreachable, unreachable, throttled, unreachable, succeeds)}).wholePauses().demand(1)
		defer u.lead()()
		want := func(after time.Duration, on, unavailable, throttled float64) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			got := [3]float64{
				u.gauge("outage_backoff"), testutil.ToFloat64(u.metrics.pauses.WithLabelValues(pauseUnavailable)),
				testutil.ToFloat64(u.metrics.pauses.WithLabelValues(pauseThrottled)),
			}
			if got != [3]float64{on, unavailable, throttled} {
				t.Errorf("%v later: paused, pauses by outages, and by a loaded server are %v", after, got)
			}
		}
		want(0, 1, 1, 0)
		want(100*time.Millisecond, 1, 1, 0) // a probe that fails is no new pause
		u.enough()
		want(200*time.Millisecond, 0, 1, 1)
		u.NodeRead("n", time.Now(), unreachable)
		want(0, 1, 2, 1)
		u.NodeRead("n", time.Now(), unreachable)
		want(0, 1, 2, 1)
		u.NodeRead("n", time.Now(), succeeds)
		want(0, 0, 2, 1)
	})
}

// latenesses returns how many deletions the histogram has for each value of its label.
func latenesses(t *testing.T, r *prometheus.Registry) map[string]uint64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uint64{}
	for _, family := range families {
		if family.GetName() != "taint_manager_eviction_lateness_seconds" {
			continue
		}
		for _, m := range family.GetMetric() {
			if n := m.GetHistogram().GetSampleCount(); n > 0 {
				all[m.GetLabel()[0].GetValue()] = n
			}
		}
	}
	return all
}

func TestLatenessThatARateOrAPauseExplainsHasALabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{
			CoreOptions: CoreOptions{Paused: true, Rates: []policy.Rate{{Name: "few", Taints: []policy.TaintKey{{Key: "down"}}, EvictionsPerSecond: 1, Burst: 1}}},
			Evictor:     always(succeeds),
		})
		defer u.lead()()
		add := func(n int, key string, deadline time.Duration) {
			u.taint, u.deadline = key, time.Now().Add(deadline)
			u.offer(n)
		}
		add(1, "other", -time.Minute)
		time.Sleep(time.Minute)
		add(1, "other", 0)
		add(3, "down", 0)
		u.SetPaused(false) // the pods are due since before, or at this moment
		add(1, "other", 0)
		time.Sleep(time.Minute)
		add(1, "other", 0)
		add(1, "other", -59*time.Second)
		add(1, "other", -61*time.Second)
		time.Sleep(time.Minute)
		u.SetPaused(false) // ends no pause
		add(1, "other", -30*time.Second)
		synctest.Wait()
		if got, want := latenesses(t, registryOf(u)), map[string]uint64{"none": 6, "hold": 2, "rate": 2}; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestARateExplainsTheLatenessOfAPodThatHasWaitedForItAfterItsDeadline(t *testing.T) {
	w := newWorld(policy.Rate{Name: "all", EvictionsPerSecond: 1, Burst: 6})
	leads := true
	w.core.options.Leading = func() bool { return leads }
	pod := func(i, due int) *evicted { return w.pod(fmt.Sprint(i), i, time.Duration(due)*time.Second, quickly) }
	var all []*evicted
	for i := range 6 {
		all = append(all, pod(i, 10)) // they take all tokens
	}
	waited, edited, late, due := pod(6, 10), pod(7, 10), pod(8, 70), pod(9, 70)
	late.Deadline = w.after(5000)
	w.at(w.after(10_999), func() { leads = false })
	w.at(w.after(69_000), func() {
		edited.Deadline = w.now
		w.step(Offered{edited.Candidate})
	})
	w.at(w.after(70_000), func() { leads = true })
	w.run(append(all, waited, edited, late, due), 80*time.Second)
	for p, want := range map[*evicted]eviction.LateBy{all[0]: "", waited: eviction.LateByRate, edited: "", late: "", due: ""} {
		if p.done.IsZero() || p.lateBy != want {
			t.Errorf("pod %s is late by %q, want %q; done at %v", p.UID, p.lateBy, want, p.done)
		}
	}
}

func TestLatenessThatAnOutageOrSlowCallsExplainHasALabel(t *testing.T) {
	w := newWorld()
	early, late := w.pod("a", 0, time.Second, quickly), w.pod("a", 0, time.Minute, quickly)
	w.step(NodeRead{"n", w.now, unreachable})
	w.core.outage.until = w.after(20_000)
	var slow []*evicted
	for _, namespace := range []string{"b", "c"} { // of which each soon has a third of all places
		for range 40 {
			slow = append(slow, w.pod(namespace, 0, 2*time.Minute, after(20*time.Second, succeeds)))
		}
	}
	w.run(append([]*evicted{early, late}, slow...), 5*time.Minute)
	for p, want := range map[*evicted]eviction.LateBy{early: eviction.LateByOutage, late: "", slow[0]: "", slow[39]: eviction.LateBySlowCalls} {
		if p.done.IsZero() || p.lateBy != want {
			t.Errorf("pod %s is late by %q, want %q; done at %v", p.UID, p.lateBy, want, p.done)
		}
	}
}

func TestACallThatIsSlowExplainsItsOwnLateness(t *testing.T) {
	for lasts, by := range map[time.Duration]eviction.LateBy{slowAfter - 1: eviction.LateByNothing, slowAfter: eviction.LateBySlowCalls} {
		synctest.Test(t, func(t *testing.T) {
			u := newUser(t, Options{Evictor: lasting(lasts)})
			defer u.lead()()
			u.offer(1)
			time.Sleep(time.Minute)
			if got, want := latenesses(t, registryOf(u)), map[string]uint64{by.Label(): 1}; !maps.Equal(got, want) {
				t.Errorf("a call of %v: got %v, want %v", lasts, got, want)
			}
		})
	}
}

func TestTheLimitOfAllCallsExplainsLatenessAsARateDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{CallsPerSecond: 0.1}, Evictor: always(succeeds)})
		defer u.lead()()
		u.deadline = time.Now()
		u.offer(10)
		time.Sleep(5 * time.Minute)
		u.deadline = time.Now().Add(-time.Second)
		u.offer(1) // no call was held meanwhile
		synctest.Wait()
		if got, want := latenesses(t, registryOf(u)), map[string]uint64{"none": 2, "rate": 9}; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// Another process led when the API server was away, so that no call of this one has met the outage.
func TestAnOutageUnderAnotherLeaderExplainsLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away time.Time
		u := newUser(t, Options{CoreOptions: CoreOptions{WatchOutageUntil: func() time.Time { return away }}, Evictor: always(succeeds)})
		u.deadline = time.Now()
		u.offer(10)
		time.Sleep(10 * time.Minute)
		away = time.Now()
		u.deadline = time.Now().Add(time.Minute)
		u.offer(3)
		time.Sleep(time.Minute)
		defer u.lead()()
		synctest.Wait()
		if got, want := latenesses(t, registryOf(u)), map[string]uint64{"outage": 10, "none": 3}; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
