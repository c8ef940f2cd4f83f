package event

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Why an event was dropped: a metric's label.
const (
	droppedFull     = "full"     // too many were waiting
	droppedFailed   = "failed"   // it could not be written, twice
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
	if err := errors.Join(register(r, &m.written), register(r, &m.dropped)); err != nil {
		return nil, fmt.Errorf("registering metrics of events: %w", err)
	}
	return m, nil
}

// register puts a collector into the registry, or takes the equal one that is there.
func register[C prometheus.Collector](r prometheus.Registerer, c *C) error {
	err := r.Register(*c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := already.ExistingCollector.(C); ok {
			*c = existing
			return nil
		}
	}
	return err
}

func (m *Metrics) drop(reason string, n int) {
	m.dropped.WithLabelValues(reason).Add(float64(n))
}
