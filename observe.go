package taintmanager

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/holds"
	"github.com/taint-manager/taint-manager/policy"
)

// observer forwards what breakers and policies need of nodes and namespaces.
type observer struct {
	holds      *holds.Tracker
	namespaces func() policy.Namespaces

	// last is the last batch of changes. Only the goroutine of the nodes uses it.
	last []guard.NodeChange
}

// NodesChanged implements [cluster.NodeObserver].
func (o *observer) NodesChanged(changes []guard.NodeChange) {
	o.last = changes
	o.holds.Put(holds.NodesChanged{Changes: changes})
}

// NodesSynced implements [cluster.NodeObserver]. The last batch has all nodes.
func (o *observer) NodesSynced() {
	o.holds.Put(holds.NodesListed{Nodes: o.last})
	o.last = nil
}

// NamespacesChanged implements [cluster.NamespaceObserver].
func (o *observer) NamespacesChanged() {
	o.holds.Put(holds.NamespacesChanged{Namespaces: o.namespaces()})
}

// ready starts judging: it adopts the record of the journal, and waits until the cache has what its holds need.
func (m *Manager) ready(ctx context.Context) error {
	if err := m.holds.Do(ctx, holds.Ready{Journaled: m.journaled()}); err != nil {
		return fmt.Errorf("adopting the record of holds: %w", err)
	}
	return m.await(ctx, policy.Needs{})
}

// report reports a trip or a reset: in the log, as a metric, and as events of nodes.
func (m *Manager) report(e guard.Event) {
	about := []any{"breaker", e.Trip.Breaker, "group", e.Trip.Group, "affected", e.Affected, "nodes", e.Nodes}
	if !e.Tripped {
		m.options.Logger.Info("A breaker is reset, and the evictions that it held go on", about...)
		return
	}
	m.options.Logger.Info("A breaker is tripped, and holds the evictions because of its taints", append(about, "names", e.Names)...)
	m.trips.WithLabelValues(e.Trip.Breaker).Inc()
	m.events.PutTrip(e)
}

func newTrips() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "taint_manager_breaker_trips_total",
		Help: "Trips of breakers that this process has reported while it led, by breaker.",
	}, []string{"breaker"})
}

// tripped is a metric of the groups that are tripped now; it has no other groups.
type tripped struct {
	trips func() []guard.TripRecord
}

func (t tripped) describe() *prometheus.Desc {
	return prometheus.NewDesc("taint_manager_breaker_tripped", "1 for each group of nodes whose breaker is tripped.", []string{"breaker", "group"}, nil)
}

// Describe implements [prometheus.Collector].
func (t tripped) Describe(to chan<- *prometheus.Desc) { to <- t.describe() }

// Collect implements [prometheus.Collector].
func (t tripped) Collect(to chan<- prometheus.Metric) {
	for _, trip := range t.trips() {
		to <- prometheus.MustNewConstMetric(t.describe(), prometheus.GaugeValue, 1, trip.Breaker, trip.Group)
	}
}
