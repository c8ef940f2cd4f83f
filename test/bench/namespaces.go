package main

import (
	"context"
	"fmt"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// namespaces measures a burst of pods of many namespaces and nodes. A GET of a node is to serve several of the node's
// pods although namespaces take turns.
func namespaces(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	l := size{nodes: 300, each: 10}
	for i := range 50 {
		l.namespaces = append(l.namespaces, fmt.Sprintf("team-%d", i))
	}
	all := results{}
	if err := all.rounds(ctx, w, rounds, compared(), w.bursts(l)); err != nil {
		return nil, err
	}
	const work = "3000 pods of 50 namespaces on 300 nodes at once"
	return []report.Row{
		all.row(work, "rate", "pods/s", func(o outcome) float64 { return o.rate },
			report.AtLeast(0.9, report.Baseline), report.Reported(report.Original)),
		all.row(work, "requests for nodes, for a pod", "GETs", func(o outcome) float64 { return o.reads },
			report.AtMost(0.5, "")),
	}, nil
}
