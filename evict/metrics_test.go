package evict

import (
	"context"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

func metricsOf(t *testing.T, r prometheus.Registerer) *Metrics {
	t.Helper()
	m, err := NewMetrics(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCallsAreCountedByOutcomeAndOnlyAcceptedOnesAsDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		f := &fakeEvictor{}
		f.answer = func(_ context.Context, n int) eviction.Outcome {
			return []eviction.Outcome{
				{Kind: eviction.Accepted},
				{Kind: eviction.Refused, Cause: eviction.CauseRBAC},
				{Kind: eviction.Failed, Cause: "of a caller's own, in many words"},
			}[n]
		}
		p := NewPool(PoolOptions{Evictor: f, Workers: 4, Metrics: metricsOf(t, registry)})
		defer lead(t, p)()
		e := someRequest()
		time.Sleep(700 * time.Millisecond) // the deadline has passed by as much
		for range 3 {
			(<-p.Permits()).Start(e, func(eviction.Outcome) {})
			synctest.Wait()
		}
		want := `
# HELP taint_eviction_controller_pod_deletions_total Pods whose deletion the API server has accepted.
# TYPE taint_eviction_controller_pod_deletions_total counter
taint_eviction_controller_pod_deletions_total 1
# HELP taint_eviction_controller_pod_deletion_duration_seconds Seconds from a pod's deadline to its accepted deletion; late_by says what explains them: rate, hold, or nothing.
# TYPE taint_eviction_controller_pod_deletion_duration_seconds histogram
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="0.005"} 0
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="0.025"} 0
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="0.1"} 0
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="0.5"} 0
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="1"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="2.5"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="10"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="30"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="60"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="120"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="180"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="240"} 1
taint_eviction_controller_pod_deletion_duration_seconds_bucket{late_by="",le="+Inf"} 1
taint_eviction_controller_pod_deletion_duration_seconds_sum{late_by=""} 0.7
taint_eviction_controller_pod_deletion_duration_seconds_count{late_by=""} 1
# HELP taint_manager_eviction_calls_total Eviction calls by outcome and cause.
# TYPE taint_manager_eviction_calls_total counter
taint_manager_eviction_calls_total{cause="",outcome="accepted"} 1
taint_manager_eviction_calls_total{cause="other",outcome="failed"} 1
taint_manager_eviction_calls_total{cause="rbac",outcome="refused"} 1
# HELP taint_manager_eviction_slots Eviction calls that may be under way at once, each for its first second at most.
# TYPE taint_manager_eviction_slots gauge
taint_manager_eviction_slots 4
# HELP taint_manager_evictions_in_flight Eviction calls under way.
# TYPE taint_manager_evictions_in_flight gauge
taint_manager_evictions_in_flight 0
# HELP taint_manager_outage_backoff 1 while all eviction calls pause because the API server cannot be reached.
# TYPE taint_manager_outage_backoff gauge
taint_manager_outage_backoff 0
# HELP taint_manager_slow_eviction_places Slow eviction calls that may be under way at once beside those in slots.
# TYPE taint_manager_slow_eviction_places gauge
taint_manager_slow_eviction_places 64
# HELP taint_manager_slow_evictions_in_flight Eviction calls under way for more than a second, or in a slow place from the beginning.
# TYPE taint_manager_slow_evictions_in_flight gauge
taint_manager_slow_evictions_in_flight 0
# HELP taint_manager_slow_evictions_in_slots_total Eviction calls that were slow while all slow places were taken, and kept their slots.
# TYPE taint_manager_slow_evictions_in_slots_total counter
taint_manager_slow_evictions_in_slots_total 0
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	})
}

func TestPausesShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metricsOf(t, nil)
		f := &fakeEvictor{}
		f.answer = func(_ context.Context, n int) eviction.Outcome {
			return eviction.Outcome{Kind: []eviction.Kind{eviction.Unavailable, eviction.Unavailable, eviction.Throttled}[n]}
		}
		p := NewPool(PoolOptions{Evictor: f, Workers: 1, Metrics: m})
		defer lead(t, p)()
		for i, want := range []float64{1, 1, 0} {
			(<-p.Permits()).Start(someRequest(), func(eviction.Outcome) {})
			synctest.Wait()
			if got := testutil.ToFloat64(m.backoff); got != want {
				t.Errorf("after call %d: paused %v, want %v", i, got, want)
			}
		}
		for _, cause := range []string{pauseUnavailable, pauseThrottled} {
			if got := testutil.ToFloat64(m.pauses.WithLabelValues(cause)); got != 1 {
				t.Errorf("%v pauses because %s, want 1", got, cause)
			}
		}
	})
}

func TestTwoManagersCountIntoOneRegistry(t *testing.T) {
	registry := prometheus.NewRegistry()
	first, second := metricsOf(t, registry), metricsOf(t, registry)
	first.deletions.Inc()
	second.deletions.Inc()
	if got := testutil.ToFloat64(first.deletions); got != 2 {
		t.Errorf("%v deletions, want 2", got)
	}
}

func TestATakenMetricNameIsAnError(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(gauge("taint_manager_eviction_slots", "Something else."))
	if _, err := NewMetrics(registry); err == nil || !contains(err.Error(), "taint_manager_eviction_slots") {
		t.Errorf("error %v, want one that names the metric", err)
	}
}

func TestRatesShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Rates: []policy.Rate{
			{Name: "cluster", EvictionsPerSecond: 1, Burst: 5}, {Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 2, Burst: 3},
		}})
		defer lead(t, p)()
		time.Sleep(4 * time.Second)
		want := `
# HELP taint_manager_rate_tokens Evictions that each rate permits now, in the group of nodes that has the fewest.
# TYPE taint_manager_rate_tokens gauge
taint_manager_rate_tokens{rate="cluster"} 4
taint_manager_rate_tokens{rate="zones"} 3
# HELP taint_manager_rate_waiting Evictions that are due and wait for each rate.
# TYPE taint_manager_rate_waiting gauge
taint_manager_rate_waiting{rate="cluster"} 0
taint_manager_rate_waiting{rate="zones"} 7
`
		rates := NewRateCollector(p, func() map[string]int { return map[string]int{"zones": 7, "gone": 1} })
		if err := testutil.CollectAndCompare(rates, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
		p.SetRates(nil)
		if n := testutil.CollectAndCount(rates); n != 0 {
			t.Errorf("%d metrics without rates", n)
		}
	})
}

func TestLatenessThatARateOrAHoldExplainsHasALabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Metrics: metricsOf(t, registry)})
		defer lead(t, p)()
		for _, by := range []eviction.LateBy{"", eviction.LateByHold, eviction.LateByRate, eviction.LateByRate} {
			e := someRequest()
			e.LateBy = by
			(<-p.Permits()).Start(e, func(eviction.Outcome) {})
			synctest.Wait()
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]uint64{}
		for _, family := range families {
			if family.GetName() != "taint_eviction_controller_pod_deletion_duration_seconds" {
				continue
			}
			for _, m := range family.GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
			}
		}
		if want := map[string]uint64{"": 1, "hold": 1, "rate": 2}; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
