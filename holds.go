package taintmanager

import "github.com/taint-manager/taint-manager/internal/guard"

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
	m.metrics.trips.WithLabelValues(e.Trip.Breaker).Inc()
	m.events.PutTrip(e)
}
