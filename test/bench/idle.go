package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

const (
	idleSamples = 20
	idleWarmUp  = 2 // evictions that are not counted: they warm up connections
	idleGap     = 100 * time.Millisecond
)

// idleWork compares the eviction of one pod on an otherwise idle cluster, from the PATCH of its node's taint until the
// deletion is observed. The baseline is one plain client that sends PATCH and DELETE when its watch shows the node.
func idleWork() work {
	return work{
		name: "idle", title: "one pod on an idle cluster", subjects: compared(), measure: idle,
		rows: []row{newRow("taint to deletion", "ms", median, report.AtMost(1.4, report.Baseline),
			report.AtMost(1, report.Original))},
	}
}

// idle measures the evictions of several pods, one after the other.
func idle(ctx context.Context, w *world, s subject) (outcome, error) {
	l, err := w.newWorkload(ctx, size{nodes: idleWarmUp + idleSamples, each: 1})
	if err != nil {
		return nil, err
	}
	end, err := l.respond(ctx, s)
	if err != nil {
		return nil, err
	}
	samples, err := l.oneByOne(ctx)
	if err != nil {
		return nil, err
	}
	if err := end(); err != nil {
		return nil, err
	}
	return outcome{median: samples[idleWarmUp:].Median()}, l.clear(ctx)
}

// oneByOne taints one node after the other, and returns how long each eviction took, in seconds.
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
		samples = append(samples, times[0].Sub(began).Seconds())
	}
	return samples, nil
}

// respond starts the subject, or the plain client, which then reacts to taints.
func (w *workload) respond(ctx context.Context, s subject) (end func() error, err error) {
	if !s.plain() {
		r, err := w.w.ready(ctx, s)
		return func() error { return stop(r) }, err
	}
	nodes, err := w.w.worker.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("watching nodes: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.plainClient(ctx, nodes.ResultChan(), s) }()
	return func() error { nodes.Stop(); return <-ended }, load.Pause(ctx, time.Second)
}

// plainClient evicts the pod of each node as soon as the watch shows the node's taint.
func (w *workload) plainClient(ctx context.Context, changes <-chan watch.Event, s subject) error {
	for change := range changes {
		node, ok := change.Object.(*v1.Node)
		if !ok || change.Type != watch.Modified || len(node.Spec.Taints) == 0 {
			continue
		}
		if i := slices.Index(w.nodes, node.Name); i >= 0 {
			if err := s.call(ctx, w.w.worker, w.pods[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
