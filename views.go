package taintmanager

import (
	"context"
	"errors"
	"fmt"

	"github.com/taint-manager/taint-manager/taint"
)

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
