package store

import (
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

// metrics are the metrics of one [Keeper].
type metrics struct {
	writes   *prometheus.CounterVec
	problems *prometheus.GaugeVec
	entries  prometheus.Gauge
}

func newMetrics() *metrics {
	m := &metrics{
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
	for _, p := range phrases {
		m.problems.WithLabelValues(string(p.kind)).Add(0)
	}
	for _, result := range []string{writeOK, writeConflict, writeRefused, writeFailed} {
		m.writes.WithLabelValues(result)
	}
	return m
}

// wrote counts a write.
func (m *metrics) wrote(err error) {
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
