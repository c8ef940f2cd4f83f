package taintmanager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
)

const (
	// walkEvery is the shortest time between two walks over the evictions that are due.
	walkEvery = 5 * time.Second

	// walkTimeout bounds how long a scrape waits for a walk.
	walkTimeout = time.Second
)

// metrics shows the manager when it is asked, and counts what policies and breakers decide.
type metrics struct {
	manager   *Manager
	decisions *prometheus.CounterVec
	trips     *prometheus.CounterVec

	mu     sync.Mutex
	walked time.Time
	oldest []eviction.PendingTimes // what each shard has answered last
}

func newMetrics(m *Manager) *metrics {
	return &metrics{
		manager: m,
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_policy_decisions_total",
			Help: "Decisions about pods, by policy (empty if none matches), its method and its mode: Enforce for pods whose " +
				"eviction has begun or that are held, while this replica led; Audit for what a policy would decide about pods " +
				"that are new or have changed.",
		}, []string{"policy", "method", "mode"}),
		trips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_breaker_trips_total",
			Help: "Trips of breakers that this replica has reported while it led, by breaker.",
		}, []string{"breaker"}),
	}
}

// register registers the metrics; nil registers none.
func (me *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	err := errors.Join(r.Register(dispatch.NewRateCollector(me.manager.dispatcher)), r.Register(me.decisions),
		r.Register(me.trips), r.Register(prometheus.CollectorFunc(me.collect)))
	if err != nil {
		return fmt.Errorf("registering metrics (two managers need a registry each, or one wrapped with labels): %w", err)
	}
	return nil
}

// decided counts a decision.
func (me *metrics) decided(n *eviction.Note) {
	mode := policy.Enforce
	switch {
	case n.Kind == eviction.EvictionAudited:
		mode = policy.Audit
	case n.Kind != eviction.EvictionStarted && (n.Kind != eviction.EvictionHeld || n.Held.By != policy.HeldByPolicy):
		return
	}
	method := n.Method
	if n.Kind == eviction.EvictionHeld {
		method = policy.Hold
	}
	me.decisions.WithLabelValues(n.Policy, string(method), string(mode)).Inc()
}

// collect shows the state of now. What only a leader knows is 0 elsewhere, so that sums and maxima over all replicas
// are true.
func (me *metrics) collect(to chan<- prometheus.Metric) {
	show := func(name, help string, value float64, labels ...string) {
		var names, values []string
		if len(labels) > 0 {
			names, values = labels[:1], labels[1:]
		}
		d := prometheus.NewDesc("taint_manager_"+name, help, names, nil)
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, values...)
	}
	m := me.manager
	var counts eviction.PendingCounts
	var oldest eviction.PendingTimes
	if m.evicts() && m.HasSynced() {
		counts, oldest = m.pending(), me.walk()
	}
	if m.Paused() {
		pause(&counts, &oldest)
	}
	for _, p := range eviction.AllPending() {
		show("pending_evictions", "Evictions by state, each in exactly one. A call under way does not change the state. "+
			"From the leader; 0 elsewhere, and in a dry run.", float64(counts[p]), "state", p.String())
		show("oldest_due_seconds", "Seconds since the earliest deadline of a state; 0 for scheduled. At most 5 s old. From "+
			"the leader; 0 elsewhere, and in a dry run.", sinceDeadline(oldest[p]), "state", p.String())
	}
	show("leading", "1 while this replica leads, by its own clock; 0 in a dry run.", oneIf(m.evicts()))
	show("paused", "1 while the configuration of this replica pauses all evictions.", oneIf(m.Paused()))
	show("dry_run", "1 if this replica only says what it would evict.", oneIf(m.options.DryRun))
	for name, n := range m.tripped() {
		show("breaker_tripped_groups", "Groups of nodes for which a breaker is tripped now.", float64(n), "breaker",
			name)
	}
	show("evictions_scheduled", "Deprecated: use taint_manager_pending_evictions. Evictions that wait for their deadline, "+
		"for their next call or for their turn, on each replica.", float64(m.Scheduled()))
}

// evicts reports whether this process leads and may evict.
func (m *Manager) evicts() bool {
	return m.leads.Load() && !m.options.DryRun && (m.options.Leading == nil || m.options.Leading())
}

// pending returns how many evictions are in which state. Shards count each in one, and the dispatcher says what those
// wait for that are due.
func (m *Manager) pending() (all eviction.PendingCounts) {
	waits := m.dispatcher.Waits()
	for _, s := range m.shards {
		all.Add(s.Pending())
	}
	for w, n := range waits {
		n = min(n, all[eviction.PendingDue]) // a shard may show its counts later
		all[eviction.PendingDue] -= n
		all[w.Pending()] += n
	}
	return all
}

// pause counts as paused what is due or delayed: during a pause, nothing else explains why it is not evicted.
func pause(counts *eviction.PendingCounts, oldest *eviction.PendingTimes) {
	for _, p := range []eviction.Pending{eviction.PendingDue, eviction.PendingDelayed} {
		counts[eviction.PendingPaused] += counts[p]
		oldest.Take(eviction.PendingPaused, oldest[p])
		counts[p], oldest[p] = 0, time.Time{}
	}
}

// walk returns the earliest deadline of each state, at most walkEvery old. A shard that does not answer counts with its
// last answer: otherwise a shard that is stuck would seem to have nothing that is overdue.
func (me *metrics) walk() (oldest eviction.PendingTimes) {
	me.mu.Lock()
	defer me.mu.Unlock()
	if time.Since(me.walked) >= walkEvery {
		me.askShards()
		me.walked = time.Now()
	}
	for _, times := range me.oldest {
		for _, p := range eviction.AllPending() {
			oldest.Take(p, times[p])
		}
	}
	return oldest
}

// askShards asks all shards at the same time.
func (me *metrics) askShards() {
	ctx, cancel := context.WithTimeout(context.Background(), walkTimeout)
	defer cancel()
	if me.oldest == nil {
		me.oldest = make([]eviction.PendingTimes, len(me.manager.shards))
	}
	var asking sync.WaitGroup
	for i, s := range me.manager.shards {
		asking.Go(func() {
			if times, err := s.Oldest(ctx); err == nil {
				me.oldest[i] = times
			}
		})
	}
	asking.Wait()
}

// tripped returns the number of tripped groups of each breaker of the configuration.
func (m *Manager) tripped() map[string]int {
	groups := map[string]int{}
	for _, b := range m.InForce().Guards.Breakers {
		groups[b.Name] = 0
	}
	for _, t := range m.Trips() {
		if n, known := groups[t.Breaker]; known {
			groups[t.Breaker] = n + 1
		}
	}
	return groups
}

func sinceDeadline(deadline time.Time) float64 {
	if deadline.IsZero() {
		return 0
	}
	return max(time.Since(deadline).Seconds(), 0)
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
