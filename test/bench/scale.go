package main

import (
	"context"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// linear is the maximum ratio of the cost of a pod to its cost with a tenth of the pods.
const linear = 1.25

// scale measures bursts of 3000, three times and ten times as many pods of the same population: the cost of a pod
// must stay the same. The smallest burst comes before the others and after them, and its mean counts, as machines
// drift.
func (sw *sharedWorkload) scale(ctx context.Context, w *world, _ int) ([]report.Row, error) {
	small, middle, large := burstOf("3,000 pods", 1), burstOf("9,000 pods", 3), burstOf("30,000 pods", 10)
	if err := sw.atLeast(ctx, w, 15*burstNodes); err != nil {
		return nil, err
	}
	first, all := 0, results{}
	for _, s := range []part{small, middle, large, small} {
		o, err := sw.slice(first, first+s.nodes).cost(ctx, s.name)
		if err != nil {
			return nil, err
		}
		first += s.nodes
		all[s.name] = append(all[s.name], o)
	}
	row := func(what, unit string, figure func(outcome) float64, targets ...report.Target) report.Row {
		r := report.Row{
			Work: "bursts of once, 3 times and 10 times as many pods, out of 45,000", What: what, Unit: unit,
			Judged: large.name, Targets: targets,
		}
		for _, s := range []part{small, middle, large} {
			r.Results = append(r.Results, report.Result{Subject: s.name, Rounds: all.of(s.name, figure)})
		}
		return r
	}
	return []report.Row{
		row("rate", "pods/s", func(o outcome) float64 { return o.rate }, report.AtLeast(1/linear, small.name),
			report.Reported(middle.name)),
		row("processor time for a pod", "ms", func(o outcome) float64 { return o.cpu },
			report.AtMost(linear, small.name), report.Reported(middle.name)),
		row("the API server's and etcd's for a pod", "ms", func(o outcome) float64 { return o.serverCPU },
			report.Reported(small.name), report.Reported(middle.name)),
		row("peak memory", "MB", func(o outcome) float64 { return o.peak }, report.Reported(small.name),
			report.Reported(middle.name)),
	}, nil
}

// part is a part of the population.
type part struct {
	name  string
	nodes int
}

func burstOf(name string, times int) part { return part{name, times * burstNodes} }

// cost returns the cost of a burst of this workload for each pod.
func (w *workload) cost(ctx context.Context, name string) (outcome, error) {
	o, err := w.burst(ctx, ours())
	if err != nil {
		return o, err
	}
	pods := float64(len(w.pods))
	o.cpu, o.serverCPU = o.cpu/pods*1e3, o.serverCPU/pods*1e3
	w.w.say("%s: %.1f/s, CPU for a pod %.3f ms of its own, %.2f ms of the server's; peak %.0f MB", name, o.rate, o.cpu,
		o.serverCPU, o.peak)
	return o, nil
}

// slice returns a part of a workload: the nodes from first to before end, with their pods.
func (w *workload) slice(first, end int) *workload {
	return &workload{w: w.w, name: w.name, nodes: w.nodes[first:end], pods: w.pods[first*podsEach : end*podsEach]}
}
