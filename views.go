package taintmanager

import (
	"context"
	"errors"
	"fmt"

	"github.com/taint-manager/taint-manager/taint"
)

// HasSynced reports whether the manager has seen the whole cluster, and has read the journal or stopped waiting for it.
// Before that it decides nothing.
func (m *Manager) HasSynced() bool {
	select {
	case <-m.journal.Loaded():
		return true
	default:
		return false
	}
}

// Trouble returns nil while the manager can watch the cluster; otherwise it returns what cannot be watched, since when
// and why. It does not cover a caller's informer.
func (m *Manager) Trouble() error { return m.source.Trouble() }

// JournalTrouble returns nil while the journal works; otherwise it returns a short description of the problem. It does
// not affect readiness: evictions continue, and no eviction happens earlier because of it.
func (m *Manager) JournalTrouble() error { return m.journal.Trouble() }

// OriginalTrouble returns a warning if this process has seen within a day, while it led, that the original, the
// taint-eviction-controller of kube-controller-manager, evicts pods, too; otherwise nil. It does not affect readiness.
func (m *Manager) OriginalTrouble() error { return m.original.Trouble() }

// Paused reports whether calls are paused.
func (m *Manager) Paused() bool { return m.InForce().Paused }

// InForce returns the policies that are in force now, with defaults. Callers must not modify them.
func (m *Manager) InForce() Policies { return *m.inForce.Load() }

// Trips returns the groups of nodes whose breakers are tripped now, each with the time since when.
func (m *Manager) Trips() []Trip { return m.holds.Trips() }

// Scheduled returns the number of evictions that wait for their deadline, for their next attempt or for their turn.
func (m *Manager) Scheduled() int {
	n := m.dispatcher.Waiting()
	for _, s := range m.shards {
		n += s.Scheduled()
	}
	return n
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
	return all, nil
}

// Tainted returns the nodes that carry NoExecute taints, in no particular order. Callers must not modify them.
func (m *Manager) Tainted() []*taint.Node { return m.source.Tainted() }
