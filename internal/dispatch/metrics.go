package dispatch

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/registry"
)

// Metrics are what a [Dispatcher] counts.
type Metrics struct {
	deletions prometheus.Counter
	latency   prometheus.Histogram
	lateness  *prometheus.HistogramVec
	calls     *prometheus.CounterVec
	inFlight  prometheus.Gauge
	slots     prometheus.Gauge
	slow      prometheus.Gauge
	places    prometheus.Gauge
	kept      prometheus.Counter
	backoff   prometheus.Gauge
	pauses    *prometheus.CounterVec
}

// NewMetrics registers the metrics; nil registers none. Where the registry has them already, those are used. It fails
// when a name is taken by something else.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	m := newMetrics()
	if r == nil {
		return m, nil
	}
	if err := errors.Join(
		registry.Register(r, &m.deletions), registry.Register(r, &m.latency), registry.Register(r, &m.lateness),
		registry.Register(r, &m.calls),
		registry.Register(r, &m.inFlight), registry.Register(r, &m.slots), registry.Register(r, &m.slow),
		registry.Register(r, &m.places), registry.Register(r, &m.kept), registry.Register(r, &m.backoff),
		registry.Register(r, &m.pauses),
	); err != nil {
		return nil, fmt.Errorf("registering metrics of evictions: %w", err)
	}
	for _, by := range eviction.LatenessLabels() {
		m.lateness.WithLabelValues(by)
	}
	for _, cause := range []string{pauseUnavailable, pauseThrottled} {
		m.pauses.WithLabelValues(cause)
	}
	return m, nil
}

func newMetrics() *Metrics {
	return &Metrics{
		deletions: counter("taint_eviction_controller_pod_deletions_total",
			"Pods whose deletion the API server has accepted."),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "taint_eviction_controller_pod_deletion_duration_seconds",
			Help:    "Seconds from a pod's deadline to its accepted deletion, in the original's buckets.",
			Buckets: []float64{.005, .025, .1, .5, 1, 2.5, 10, 30, 60, 120, 180, 240},
		}),
		lateness: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "taint_manager_eviction_lateness_seconds",
			Help: "Seconds from a pod's deadline to its accepted deletion, by what explains them: rate (also the limit of all " +
				"calls), hold (also a pause), budget (of the method Evict), webhook (one that is slow or fails), outage (of the " +
				"API server), or none.",
			Buckets: []float64{.1, .5, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400},
		}, []string{"late_by"}),
		calls: counters("taint_manager_eviction_calls_total",
			"Eviction calls by outcome and cause.", "outcome", "cause"),
		inFlight: gauge("taint_manager_evictions_in_flight", "Eviction calls under way."),
		slots: gauge("taint_manager_eviction_slots",
			"Eviction calls that may be under way at once, each for its first second at most."),
		slow: gauge("taint_manager_slow_evictions_in_flight",
			"Eviction calls under way for more than a second, or in a slow place from the beginning."),
		places: gauge("taint_manager_slow_eviction_places",
			"Slow eviction calls that may be under way at once beside those in slots."),
		kept: counter("taint_manager_slow_evictions_in_slots_total",
			"Eviction calls that were slow while all slow places were taken, and kept their slots."),
		backoff: gauge("taint_manager_outage_backoff",
			"1 while all eviction calls pause because the API server cannot be reached."),
		pauses: counters("taint_manager_eviction_pauses_total",
			"Pauses of all eviction calls: the API server could not be reached, or asked clients to wait.", "cause"),
	}
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// ended counts a call that has ended.
func (m *Metrics) ended(e eviction.Request, o eviction.Outcome, started, now time.Time) {
	m.calls.WithLabelValues(o.Kind.String(), eviction.CauseLabel(o.Cause)).Inc()
	if o.Kind == eviction.Accepted {
		m.deletions.Inc()
		late, by := max(now.Sub(e.Verdict.At), 0).Seconds(), e.LateBy
		if by == eviction.LateByNothing && now.Sub(started) >= SlowAfter {
			by = eviction.LateByWebhook
		}
		m.latency.Observe(late)
		m.lateness.WithLabelValues(by.Label()).Observe(late)
	}
}

// stepped takes in what a step has changed; under the dispatcher's lock.
func (m *Metrics) stepped(c *Core, do *Effects) {
	m.kept.Add(float64(len(do.Kept)))
	if do.Pause != "" {
		m.pauses.WithLabelValues(do.Pause).Inc()
	}
	m.slots.Set(float64(c.places.slots))
	m.places.Set(float64(c.places.slowPlaces))
	m.inFlight.Set(float64(c.InFlight()))
	m.slow.Set(float64(c.Slow()))
	m.backoff.Set(0)
	if c.outage.on() {
		m.backoff.Set(1)
	}
}
