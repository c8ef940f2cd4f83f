package store

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The results of a write: a metric's label.
const (
	writeOK       = "ok"
	writeConflict = "conflict" // another client has written it
	writeRefused  = "refused"  // a permission is missing
	writeFailed   = "failed"
)

// Metrics are the metrics of one [Keeper].
type Metrics struct {
	writes   *prometheus.CounterVec
	problems *prometheus.GaugeVec
	entries  prometheus.Gauge
}

// NewMetrics registers the metrics; nil registers none.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_journal_writes_total",
			Help: "Writes of ConfigMaps of the journal, by result.",
		}, []string{"result"}),
		problems: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "taint_manager_journal_problems",
			Help: "ConfigMaps of the journal that have a problem of this kind.",
		}, []string{"kind"}),
		entries: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "taint_manager_journal_records",
			Help: "Nodes that the journal of this leader has a record of.",
		}),
	}
	if r != nil {
		if err := errors.Join(r.Register(m.writes), r.Register(m.problems), r.Register(m.entries)); err != nil {
			return nil, fmt.Errorf("registering metrics of the journal: %w", err)
		}
	}
	for _, p := range phrases {
		m.problems.WithLabelValues(string(p.kind)).Add(0)
	}
	for _, result := range []string{writeOK, writeConflict, writeRefused, writeFailed} {
		m.writes.WithLabelValues(result)
	}
	return m, nil
}

// wrote counts a write.
func (m *Metrics) wrote(err error) {
	result := writeFailed
	switch {
	case err == nil:
		result = writeOK
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		result = writeConflict
	case apierrors.IsForbidden(err):
		result = writeRefused
	}
	m.writes.WithLabelValues(result).Inc()
}
