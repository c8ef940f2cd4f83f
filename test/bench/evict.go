package main

import (
	"context"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

// evict measures a burst by the eviction subresource, one call for each pod, which sets the condition itself. The
// pods are Running, so that the API server looks for budgets.
func evict(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	all := results{}
	l := size{nodes: burstNodes, running: true}
	subjects := []subject{baseline(load.Evict), ours("--eviction-method=evict")}
	if err := all.rounds(ctx, w, rounds, subjects, w.bursts(l)); err != nil {
		return nil, err
	}
	const work = "3000 Running pods of 100 nodes, --eviction-method=evict"
	return []report.Row{
		all.row(work, "rate", "pods/s", func(o outcome) float64 { return o.rate },
			report.AtLeast(0.9, report.Baseline)),
		all.row(work, "taint to deletion, median", "s", func(o outcome) float64 { return o.median },
			report.Reported(report.Baseline)),
	}, nil
}
