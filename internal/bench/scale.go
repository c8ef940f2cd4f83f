package main

import (
	"context"
	"fmt"

	"github.com/taint-manager/taint-manager/internal/bench/report"
)

// scale measures a burst of once, three times and ten times as many pods: what a pod costs is to stay the
// same. The last of them is the population of 30,000 pods, which is gone then.
func (m *multitude) scale(ctx context.Context, w *world, _ int) ([]report.Row, error) {
	if m.crowd != nil && len(m.nodes) < manyNodes {
		if err := m.atLeast(ctx, w, manyNodes); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

var _ = fmt.Sprint
