package taintmanager

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/internal/guard"
)

// createTracker creates the tracker of holds.
func (m *Manager) createTracker(c guard.Config) {
	m.holds = guard.NewTracker(guard.Options{
		Config: c, Judged: m.judged, Record: m.journal.SetGuards, Report: m.report,
		Journaled: m.journaled, Namespaces: m.source.Namespaces, Keep: m.source.Need,
		SetPaused: m.dispatcher.SetPaused,
	})
}

// journaled returns the record that the journal has.
func (m *Manager) journaled() guard.Journaled {
	r, known := m.journal.Guards()
	return guard.Journaled{Record: r, Known: known}
}

// Trips returns the groups of nodes whose breakers are tripped now, each with the time since when.
func (m *Manager) Trips() []Trip { return m.holds.Trips() }

// report reports a trip or a reset: in the log, as a metric, and as events of nodes.
func (m *Manager) report(e guard.Event) {
	about := []any{"breaker", e.Trip.Breaker, "group", e.Trip.Group, "affected", e.Affected, "nodes", e.Nodes}
	if !e.Tripped {
		m.options.Logger.Info("A breaker is reset, and the evictions that it held go on", about...)
		return
	}
	m.options.Logger.Info("A breaker is tripped, and holds the evictions because of its taints",
		append(about, "names", e.Names)...)
	m.trips.WithLabelValues(e.Trip.Breaker).Inc()
	m.events.PutTrip(e)
}

func newTrips() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "taint_manager_breaker_trips_total",
		Help: "Trips of breakers that this process has reported while it led, by breaker.",
	}, []string{"breaker"})
}

// collectTripped collects a metric of the groups that are tripped now; it has no other groups.
func (m *Manager) collectTripped(to chan<- prometheus.Metric) {
	tripped := prometheus.NewDesc("taint_manager_breaker_tripped",
		"1 for each group of nodes whose breaker is tripped.", []string{"breaker", "group"}, nil)
	for _, t := range m.Trips() {
		to <- prometheus.MustNewConstMetric(tripped, prometheus.GaugeValue, 1, t.Breaker, t.Group)
	}
}
