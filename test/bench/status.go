package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

const (
	statusUpdates = 5000
	quietSpan     = 5 * time.Second
)

// status measures the processor time of subjects for an update of a pod's status that changes no field that they
// use, with 30,000 pods cached.
func (sw *sharedWorkload) status(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	if err := sw.atLeast(ctx, w, manyNodes); err != nil {
		return nil, err
	}
	all := results{}
	if err := all.rounds(ctx, w, rounds, []subject{ours(), w.rival()}, sw.updates); err != nil {
		return nil, err
	}
	return []report.Row{
		all.row("30,000 pods, 5000 updates of pods' status that change nothing", "processor time for each", "us",
			func(o outcome) float64 { return o.cpu * 1e6 }, report.AtMost(1, report.Original)),
	}, nil
}

// updates starts and stops a subject, and measures the cost of an update. The subject is left alone for a while
// first. Otherwise the work after its start would be subtracted as its cost when idle.
func (sw *sharedWorkload) updates(ctx context.Context, s subject) (o outcome, err error) {
	p, err := sw.w.ready(ctx, s)
	if err != nil {
		return o, err
	}
	if err := load.Pause(ctx, settling); err != nil {
		return o, err
	}
	if o.cpu, err = sw.updateCost(ctx, p.Pid()); err != nil {
		return o, err
	}
	return o, p.Stop()
}

// updateCost returns the processor time for one update in seconds, without the process's cost when idle.
func (sw *sharedWorkload) updateCost(ctx context.Context, pid int) (float64, error) {
	idle, err := cpuWhile(pid, func() error { return load.Pause(ctx, quietSpan) })
	if err != nil {
		return 0, err
	}
	began := time.Now()
	busy, err := cpuWhile(pid, func() error {
		if err := sw.touch(ctx); err != nil {
			return err
		}
		return load.Pause(ctx, time.Second/2) // the last ones arrive
	})
	if err != nil {
		return 0, err
	}
	busy -= idle * time.Since(began).Seconds() / quietSpan.Seconds()
	return busy / statusUpdates, nil
}

// cpuWhile returns the processor time, in seconds, that a process uses while do runs.
func cpuWhile(pid int, do func() error) (float64, error) {
	before, err := cpuSeconds(pid)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := cpuSeconds(pid)
	return after - before, err
}

// touch updates the status of some pods, differently each time.
func (sw *sharedWorkload) touch(ctx context.Context) error {
	apart := len(sw.pods) / statusUpdates
	err := load.Each(ctx, statusUpdates, func(ctx context.Context, i int) error {
		patch := fmt.Sprintf(`{"status":{"message":"update at %d"}}`, time.Now().UnixNano())
		pod := sw.pods[i*apart]
		_, err := sw.w.admin.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType,
			[]byte(patch), metav1.PatchOptions{}, "status")
		return err
	})
	if err != nil {
		return fmt.Errorf("updating pods' status: %w", err)
	}
	return nil
}
