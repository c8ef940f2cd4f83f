package dispatch

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/eviction"
)

// metrics count what a [Dispatcher] does.
type metrics struct {
	deletions prometheus.Counter
	latency   prometheus.Histogram
	lateness  *prometheus.HistogramVec
	calls     *prometheus.CounterVec
	pauses    *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		deletions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "taint_eviction_controller_pod_deletions_total",
			Help: "Pods whose deletion the API server has accepted.",
		}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "taint_eviction_controller_pod_deletion_duration_seconds",
			Help:    "Seconds from a pod's deadline to its accepted deletion, in the built-in controller's buckets.",
			Buckets: []float64{.005, .025, .1, .5, 1, 2.5, 10, 30, 60, 120, 180, 240},
		}),
		lateness: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "taint_manager_eviction_lateness_seconds",
			Help: "Seconds from a pod's deadline to its accepted deletion, by what explains them: rate (also the limit of all " +
				"calls), hold (also a pause), budget (of the method Evict), slow_calls (the API server or a webhook takes longer " +
				"than a second, or a webhook fails), outage (of the API server), or none.",
			Buckets: []float64{.1, .5, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400},
		}, []string{"late_by"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_eviction_calls_total",
			Help: "Eviction calls by outcome and cause.",
		}, []string{"outcome", "cause"}),
		pauses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_eviction_pauses_total",
			Help: "Pauses of all eviction calls: the API server could not be reached, or asked clients to wait.",
		}, []string{"cause"}),
	}
	for _, by := range eviction.LatenessLabels() {
		m.lateness.WithLabelValues(by)
	}
	for _, cause := range []string{pauseUnavailable, pauseThrottled} {
		m.pauses.WithLabelValues(cause)
	}
	return m
}

// Collectors returns the metrics of the dispatcher. The gauges show the state at the time of collection.
func (d *Dispatcher) Collectors() []prometheus.Collector {
	gauge := func(name, help string, value func(*Core) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "taint_manager_" + name, Help: help},
			func() float64 { return float64(locked(d, value)) })
	}
	m := d.metrics
	return []prometheus.Collector{
		m.deletions, m.latency, m.lateness, m.calls, m.pauses,
		gauge("evictions_in_flight", "Eviction calls in flight.", (*Core).InFlight),
		gauge("eviction_places", "Eviction calls that may be in flight at once: three times --eviction-workers.",
			func(c *Core) int { return c.places.all() }),
		gauge("slow_evictions_in_flight",
			"Eviction calls that have been in flight for more than a second. The API server or a webhook is slow.",
			func(c *Core) int { return c.old(time.Now()) }),
		gauge("outage_backoff", "1 while all eviction calls pause because the API server cannot be reached.",
			func(c *Core) int {
				if c.outage.on() {
					return 1
				}
				return 0
			}),
	}
}

// ended counts a call that has ended.
func (m *metrics) ended(e eviction.Request, o eviction.Outcome, started, now time.Time) {
	m.calls.WithLabelValues(o.Kind.String(), eviction.CauseLabel(o.Cause)).Inc()
	if o.Kind == eviction.Accepted {
		m.deletions.Inc()
		late, by := max(now.Sub(e.Verdict.At), 0).Seconds(), e.LateBy
		if by == eviction.LateByNothing && now.Sub(started) >= slowAfter {
			by = eviction.LateBySlowCalls
		}
		m.latency.Observe(late)
		m.lateness.WithLabelValues(by.Label()).Observe(late)
	}
}
