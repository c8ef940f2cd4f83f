package taintmanager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
)

// walkTimeout bounds how long a scrape waits for the shards, which walk over their evictions.
const walkTimeout = time.Second

// metrics exports the state of the manager, and counts the decisions of policies and breakers.
type metrics struct {
	manager   *Manager
	decisions *prometheus.CounterVec
	trips     *prometheus.CounterVec
	repeats   prometheus.Counter

	mu   sync.Mutex
	last []shard.Pending // the last answer of each shard
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
		repeats: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "taint_manager_repeated_evictions_total",
			Help: "First calls of this replica for pods that another process had already marked or begun to delete: after " +
				"a change of leader, and while two processes lead because somebody deleted the Lease.",
		}),
	}
}

// register registers the metrics; nil registers none.
func (me *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	var errs []error
	m := me.manager
	own := []prometheus.Collector{
		me.decisions, me.trips, me.repeats, prometheus.CollectorFunc(me.collect), m.journal.Collector(),
	}
	for _, c := range slices.Concat(m.dispatcher.Collectors(), m.events.Collectors(), m.builtin.Collectors(), own) {
		errs = append(errs, r.Register(c))
	}
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	return fmt.Errorf("registering metrics (two managers need a registry each, or one wrapped with labels): %w", err)
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

// ended counts a call that repeats an eviction that another process began.
func (me *metrics) ended(e *eviction.Request, o *eviction.Outcome) {
	deleted := o.Kind == eviction.Accepted && e.Attempt == 1 && e.Pod.Disrupted
	if deleted || o.Cause == eviction.CauseBegun {
		me.repeats.Inc()
	}
}

// collect exports the present state. Values that only a leader knows are 0 on all other replicas, so that sums and
// maxima over all replicas are right.
func (me *metrics) collect(to chan<- prometheus.Metric) {
	show := func(name, help string, value float64, labels ...string) { // each label's name, then its value
		var names, values []string
		for label := range slices.Chunk(labels, 2) {
			names, values = append(names, label[0]), append(values, label[1])
		}
		d := prometheus.NewDesc("taint_manager_"+name, help, names, nil)
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, values...)
	}
	m := me.manager
	var pending shard.Pending
	if m.evicts() && m.HasSynced() {
		pending = me.walk()
	}
	for _, level := range m.dispatcher.Levels() {
		show("rate_tokens", "Evictions that each rate permits now, in the group of nodes that has the fewest.",
			float64(level.Tokens), "rate", level.Rate)
		show("rate_waiting", "Evictions that are due and wait for each rate, or did until their present call; those apart "+
			"that are blocked, refused or delayed. From the leader; 0 elsewhere, and in a dry run.",
			float64(pending.Rates[level.Rate]), "rate", level.Rate)
	}
	for _, class := range shard.Classes() {
		count, labels := pending.Counts[class], []string{"state", string(class.State), "waits_for", string(class.Waits)}
		show("pending_evictions", "Evictions by state and by what they wait for; each counts once. A call in flight "+
			"changes neither. From the leader; 0 elsewhere, and in a dry run.", float64(count.N), labels...)
		show("oldest_due_seconds", "Seconds since the earliest deadline, by state and by what evictions wait for; 0 "+
			"for scheduled. From the leader; 0 elsewhere, and in a dry run.", sinceDeadline(count.Oldest), labels...)
	}
	show("leading", "1 while this replica leads, by its own clock; 0 in a dry run.", oneIf(m.evicts()))
	show("paused", "1 while the configuration of this replica pauses all evictions.", oneIf(m.Paused()))
	show("dry_run", "1 if this replica only says what it would evict.", oneIf(m.options.DryRun))
	for name, n := range m.tripped() {
		show("breaker_tripped_groups", "Groups of nodes for which a breaker is tripped now.", float64(n), "breaker",
			name)
	}
}

// evicts reports whether this process leads and may evict.
func (m *Manager) evicts() bool {
	return m.leads.Load() && !m.options.DryRun && m.options.Leading()
}

// walk asks all shards at the same time, and counts their evictions. A shard that does not answer counts with its last
// answer: otherwise a stuck shard would seem to have no overdue evictions.
func (me *metrics) walk() shard.Pending {
	me.mu.Lock()
	defer me.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), walkTimeout)
	defer cancel()
	if me.last == nil {
		me.last = make([]shard.Pending, len(me.manager.shards))
	}
	var asking sync.WaitGroup
	for i, s := range me.manager.shards {
		asking.Go(func() {
			if pending, err := s.Pending(ctx); err == nil {
				me.last[i] = pending
			}
		})
	}
	asking.Wait()
	return shard.Sum(me.last)
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
