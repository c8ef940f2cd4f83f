package main

import (
	"context"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

// The sizes of the shared population, in nodes of 30 pods.
const (
	someNodes = 333
	manyNodes = 1000
)

// settling is how long a subject is left alone before it counts as idle.
const settling = 5 * time.Second

// sharedWorkload is the population of 30,000 pods that several works share. It is created when it is first needed,
// and the last work evicts it.
type sharedWorkload struct{ *workload }

// atLeast ensures that this number of nodes exists, with their pods.
func (sw *sharedWorkload) atLeast(ctx context.Context, w *world, nodes int) (err error) {
	if sw.workload == nil {
		sw.workload, err = w.newWorkload(ctx, size{nodes: min(nodes, someNodes)})
		if err != nil {
			return err
		}
	}
	if missing := nodes - len(sw.nodes); missing > 0 {
		began := time.Now()
		if err := sw.grow(ctx, size{nodes: missing}); err != nil {
			return err
		}
		w.say("there are %d pods; %d were made in %.0f s", len(sw.pods), missing*podsEach, time.Since(began).Seconds())
	}
	return nil
}

// memory measures the memory of idle subjects after they have listed the whole cluster.
func (sw *sharedWorkload) memory(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	if err := sw.atLeast(ctx, w, someNodes); err != nil {
		return nil, err
	}
	fewer, all, memory := results{}, results{}, func(o outcome) float64 { return o.memory }
	if err := fewer.rounds(ctx, w, 1, []subject{ours()}, w.memory); err != nil {
		return nil, err
	}
	less := len(sw.pods)
	if err := sw.atLeast(ctx, w, manyNodes); err != nil {
		return nil, err
	}
	if err := all.rounds(ctx, w, rounds, []subject{ours(), originalUnlimited()}, w.memory); err != nil {
		return nil, err
	}
	further := func(o outcome) float64 { // bytes
		return (o.memory - fewer.of(report.Ours, memory).Median()) * 1e6 / float64(len(sw.pods)-less)
	}
	const work = "30,000 pods, nothing tainted"
	return []report.Row{
		all.row(work, "resident memory", "MB", memory, report.AtMost(0.2, report.Original)),
		all.but(report.Original).row(work, "for each pod after the first 10,000", "bytes", further,
			report.AtMost(1000, "")),
	}, nil
}

// memory starts a subject, and reads its memory after it is ready and was left alone for a while.
func (w *world) memory(ctx context.Context, s subject) (o outcome, err error) {
	p, err := w.ready(ctx, s)
	if err != nil {
		return o, err
	}
	if err := load.Pause(ctx, settling); err != nil {
		return o, err
	}
	if o.memory, o.peak, err = load.Memory(p.Pid()); err != nil {
		return o, err
	}
	return o, p.Stop()
}

// rival returns the subject with which taint-manager is compared: the original, or another build.
func (w *world) rival() subject {
	if w.against != "" {
		return otherBuild(w.against)
	}
	return originalUnlimited()
}
