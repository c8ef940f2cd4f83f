package event

import "github.com/prometheus/client_golang/prometheus"

// Why an event was dropped: a metric's label.
const (
	droppedFull     = "full"     // too many were waiting
	droppedFailed   = "failed"   // it could not be written, twice
	droppedTimeout  = "timeout"  // the API server did not answer in time
	droppedRefused  = "refused"  // the API server does not take it
	droppedShutdown = "shutdown" // this process ended first
)

// metrics count what a [Queue] does.
type metrics struct {
	written prometheus.Counter
	dropped *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		written: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "taint_manager_events_written_total",
			Help: "Events written.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_events_dropped_total",
			Help: "Events dropped, by why.",
		}, []string{"reason"}),
	}
	for _, reason := range []string{droppedFull, droppedFailed, droppedTimeout, droppedRefused, droppedShutdown} {
		m.dropped.WithLabelValues(reason)
	}
	return m
}

// Collectors returns the metrics of the queue.
func (q *Queue) Collectors() []prometheus.Collector {
	return []prometheus.Collector{q.metrics.written, q.metrics.dropped}
}

func (m *metrics) drop(reason string, n int) {
	m.dropped.WithLabelValues(reason).Add(float64(n))
}
