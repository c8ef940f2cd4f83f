package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

const (
	idleSamples = 22
	idleGap     = 100 * time.Millisecond
)

// idle measures one pod on an otherwise idle cluster, from the PATCH of its node's taint until the deletion is
// seen. The baseline is one plain client that sends PATCH and DELETE when its watch shows the node.
func idle(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	all := results{}
	if err := all.rounds(ctx, w, rounds, compared(), w.idle); err != nil {
		return nil, err
	}
	return []report.Row{
		all.row("one pod on an idle cluster", "taint to deletion", "ms",
			func(o outcome) float64 { return o.median * 1000 },
			report.AtMost(1.4, report.Baseline), report.AtMost(1, report.Original)),
	}, nil
}

// idle measures the evictions of several pods, one after the other.
func (w *world) idle(ctx context.Context, s subject) (o outcome, err error) {
	c, err := w.newWorkload(ctx, size{nodes: idleSamples, each: 1})
	if err != nil {
		return o, err
	}
	stop, err := c.respond(ctx, s)
	if err != nil {
		return o, err
	}
	samples, err := c.oneByOne(ctx)
	if err != nil {
		return o, err
	}
	if err := stop(); err != nil {
		return o, err
	}
	return outcome{first: samples.Quantile(0), median: samples.Median(), last: samples.Quantile(1)}, c.clear(ctx)
}

// oneByOne taints one node after the other, and returns how long each eviction took, in seconds. The first two are not
// counted: they warm up connections.
func (w *workload) oneByOne(ctx context.Context) (samples report.Series, err error) {
	for i, node := range w.nodes {
		if err := load.Pause(ctx, idleGap); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := w.w.taintNode(ctx, node, nil); err != nil {
			return nil, fmt.Errorf("tainting a node: %w", err)
		}
		times, err := w.w.waitFor(ctx, w.pods[i:i+1], burstTimeout)
		if err != nil {
			return nil, err
		}
		if i >= 2 {
			samples = append(samples, times[0].Sub(began).Seconds())
		}
	}
	return samples, nil
}

// respond starts the subject, or the plain client, which then reacts to taints.
func (w *workload) respond(ctx context.Context, s subject) (stop func() error, err error) {
	if s.launch != nil {
		p, err := w.w.ready(ctx, s)
		if err != nil {
			return nil, err
		}
		return p.Stop, nil
	}
	nodes, err := w.w.worker.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("watching nodes: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.plainClient(ctx, nodes.ResultChan(), s.plain) }()
	return func() error { nodes.Stop(); return <-ended }, load.Pause(ctx, time.Second)
}

// plainClient evicts the pod of each node as soon as the watch shows the node's taint.
func (w *workload) plainClient(ctx context.Context, changes <-chan watch.Event, do call) error {
	index := map[string]int{}
	for i, node := range w.nodes {
		index[node] = i
	}
	for change := range changes {
		node, ok := change.Object.(*v1.Node)
		if !ok || change.Type != watch.Modified || len(node.Spec.Taints) == 0 {
			continue
		}
		i, known := index[node.Name]
		if !known {
			continue
		}
		if err := do(ctx, w.w.worker, w.pods[i]); err != nil {
			return fmt.Errorf("the plain client: %w", err)
		}
	}
	return nil
}
