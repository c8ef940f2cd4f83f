package event

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/internal/registry"
)

// Why an event was dropped: a metric's label.
const (
	droppedFull     = "full"     // too many were waiting
	droppedFailed   = "failed"   // it could not be written, twice
	droppedTimeout  = "timeout"  // the API server did not answer in time
	droppedRefused  = "refused"  // the API server does not take it
	droppedShutdown = "shutdown" // this process ended first
)

// Metrics are what a [Queue] counts. Several queues may share one.
type Metrics struct {
	written prometheus.Counter
	dropped *prometheus.CounterVec
}

// NewMetrics registers the metrics; nil registers none. Where the registry has them already, those are
// used. It fails when a name is taken by something else.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		written: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "taint_manager_events_written_total",
			Help: "Events written.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_events_dropped_total",
			Help: "Events dropped, by why.",
		}, []string{"reason"}),
	}
	if r == nil {
		return m, nil
	}
	if err := errors.Join(registry.Register(r, &m.written), registry.Register(r, &m.dropped)); err != nil {
		return nil, fmt.Errorf("registering metrics of events: %w", err)
	}
	for _, reason := range []string{droppedFull, droppedFailed, droppedTimeout, droppedRefused, droppedShutdown} {
		m.dropped.WithLabelValues(reason)
	}
	return m, nil
}

func (m *Metrics) drop(reason string, n int) {
	m.dropped.WithLabelValues(reason).Add(float64(n))
}
