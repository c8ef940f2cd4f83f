package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/internal/bench/report"
)

const (
	idleSamples = 22
	idleGap     = 100 * time.Millisecond
)

// idle measures one pod on an otherwise idle cluster, from the PATCH of its node's taint until the deletion is
// seen. The baseline is one plain client that sends PATCH and DELETE when its watch shows the node.
func idle(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	var results [3]report.Series
	for range rounds {
		for i, s := range compared() {
			samples, err := w.idle(ctx, s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			results[i] = append(results[i], samples.Median())
			w.say("%-24s one pod: median %.1f ms (%.1f-%.1f)", s.name, samples.Median(), samples.Quantile(0), samples.Quantile(1))
		}
	}
	return []report.Row{{
		Work: "one pod on an idle cluster", What: "taint to deletion", Unit: "ms",
		Results: []report.Result{{Subject: report.Baseline, Rounds: results[0]}, {Subject: report.Ours, Rounds: results[1]}, {Subject: report.Original, Rounds: results[2]}},
		Targets: []report.Target{report.AtMost(1.4, report.Baseline), report.AtMost(1, report.Original)},
	}}, nil
}

// idle returns how long the eviction of each of several pods took, in milliseconds.
func (w *world) idle(ctx context.Context, s subject) (report.Series, error) {
	c, err := w.newWorkload(ctx, size{nodes: idleSamples, each: 1})
	if err != nil {
		return nil, err
	}
	stop, err := c.respond(ctx, s)
	if err != nil {
		return nil, err
	}
	samples, err := c.oneByOne(ctx)
	if err != nil {
		return nil, err
	}
	if err := stop(); err != nil {
		return nil, err
	}
	return samples, c.clear(ctx)
}

// oneByOne taints one node after the other. The first two are not counted: they warm up connections.
func (c *workload) oneByOne(ctx context.Context) (samples report.Series, err error) {
	for i, node := range c.nodes {
		if err := pause(ctx, idleGap); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := c.w.taintNode(ctx, node, nil); err != nil {
			return nil, fmt.Errorf("tainting a node: %w", err)
		}
		times, err := c.w.waitFor(ctx, c.pods[i:i+1], burstTimeout)
		if err != nil {
			return nil, err
		}
		if i >= 2 {
			samples = append(samples, float64(times[0].Sub(began).Microseconds())/1000)
		}
	}
	return samples, nil
}

// respond starts the subject, or the plain client, which then reacts to taints.
func (c *workload) respond(ctx context.Context, s subject) (stop func() error, err error) {
	if s.launch != nil {
		p, err := c.w.ready(ctx, s)
		if err != nil {
			return nil, err
		}
		return p.Stop, nil
	}
	nodes, err := c.w.worker.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("watching nodes: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.plainClient(ctx, nodes.ResultChan(), s.plain) }()
	return func() error { nodes.Stop(); return <-ended }, pause(ctx, time.Second)
}

// plainClient evicts the pod of each node as soon as the watch shows the node's taint.
func (c *workload) plainClient(ctx context.Context, changes <-chan watch.Event, do call) error {
	index := map[string]int{}
	for i, node := range c.nodes {
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
		if err := do(ctx, c.w.worker, c.pods[i]); err != nil {
			return fmt.Errorf("the plain client: %w", err)
		}
	}
	return nil
}
