package taintmanager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// Scheduled returns the number of evictions that wait for their deadline, their next attempt, a slot or a slow place.
func (m *Manager) Scheduled() int {
	n := 0
	for _, s := range m.shards {
		n += s.Scheduled()
	}
	return n
}

// waitingForSlowPlace returns the number of evictions that are due and wait for a slow place.
func (m *Manager) waitingForSlowPlace() int {
	n := 0
	for _, s := range m.shards {
		n += s.WaitingForSlowPlace()
	}
	return n
}

// waitingByRate returns the number of evictions that are due and wait for each rate.
func (m *Manager) waitingByRate() map[string]int {
	sum := map[string]int{}
	for _, s := range m.shards {
		for rate, n := range s.WaitingByRate() {
			sum[rate] += n
		}
	}
	return sum
}

// Views returns the state of each eviction, in no particular order. It takes time in proportion to their number, and
// each shard spends its share of that time. It returns an error if the context ends first, or if the manager has not
// synced yet.
func (m *Manager) Views(ctx context.Context) ([]View, error) {
	if !m.HasSynced() {
		return nil, errors.New("pods, nodes and the journal have not been read yet")
	}
	all := make([]View, 0, m.Scheduled())
	for i, s := range m.shards {
		views, err := s.Views(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking shard %d: %w", i, err)
		}
		all = append(all, views...)
	}
	if m.pool.LimitedByRate() {
		waitForAllCalls(all, time.Now())
	}
	return all, nil
}

// waitForAllCalls marks the evictions that only wait until one more call may start.
func waitForAllCalls(views []View, now time.Time) {
	for i := range views {
		if v := &views[i]; v.State == eviction.Due && v.WaitsForRate == "" && !v.SlowPlace && !v.Next.After(now) {
			v.WaitsForRate = eviction.RateOfAllCalls
		}
	}
}

// Tainted returns the nodes that carry NoExecute taints, in no particular order. Callers must not modify them.
func (m *Manager) Tainted() []*taint.Node { return m.source.Tainted() }
