package main

import (
	"context"

	"github.com/taint-manager/taint-manager/internal/bench/report"
)

// linear is how much more a pod may cost when there are ten times as many.
const linear = 1.25

// scale measures bursts of 3000, three times and ten times as many pods of the same population, once each:
// what a pod costs is to stay the same.
func (m *multitude) scale(ctx context.Context, w *world, _ int) ([]report.Row, error) {
	sizes := []struct {
		name  string
		nodes int
	}{{"3,000 pods", burstNodes}, {"9,000 pods", 3 * burstNodes}, {"30,000 pods", 10 * burstNodes}}
	if err := m.atLeast(ctx, w, 14*burstNodes); err != nil {
		return nil, err
	}
	first, all := 0, results{}
	for _, size := range sizes {
		part := m.part(first, first+size.nodes)
		first += size.nodes
		o, err := part.burst(ctx, ours())
		if err != nil {
			return nil, err
		}
		pods := float64(len(part.pods))
		o.cpu, o.serverCPU = o.cpu/pods*1e3, o.serverCPU/pods*1e3
		w.say("%s: %.1f/s, CPU for a pod %.3f ms of its own, %.2f ms of the server's; peak %.0f MB", size.name, o.rate, o.cpu, o.serverCPU, o.peak)
		all[size.name] = append(all[size.name], o)
	}
	row := func(what, unit string, figure func(outcome) float64, targets ...report.Target) report.Row {
		r := report.Row{
			Work: "bursts of once, 3 times and 10 times as many pods, out of 42,000", What: what, Unit: unit,
			Judged: sizes[2].name, Targets: targets,
		}
		for _, size := range sizes {
			r.Results = append(r.Results, report.Result{Subject: size.name, Rounds: all.of(size.name, figure)})
		}
		return r
	}
	small, middle := sizes[0].name, sizes[1].name
	return []report.Row{
		row("rate", "pods/s", func(o outcome) float64 { return o.rate }, report.AtLeast(1/linear, small), report.Reported(middle)),
		row("processor time for a pod", "ms", func(o outcome) float64 { return o.cpu }, report.AtMost(linear, small), report.Reported(middle)),
		row("the API server's and etcd's for a pod", "ms", func(o outcome) float64 { return o.serverCPU }, report.Reported(small), report.Reported(middle)),
		row("peak memory", "MB", func(o outcome) float64 { return o.peak }, report.Reported(small), report.Reported(middle)),
	}, nil
}

// part is some of a crowd: the nodes from first to before end, with their pods.
func (c *crowd) part(first, end int) *crowd {
	return &crowd{w: c.w, name: c.name, nodes: c.nodes[first:end], pods: c.pods[first*podsEach : end*podsEach]}
}
