package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// tolerated is long enough to taint all nodes and to start taint-manager before the instant.
const tolerated = 9 * time.Second

// instantWork compares pods that are all due at one instant. For taint-manager the instant is exact: the taints have
// the same timeAdded. The original does not read timeAdded: its countdowns begin when it observes a taint, and the
// instant is the end of the last countdown.
func instantWork() work {
	return work{
		name: "instant", title: "3000 pods of 100 nodes due at one instant", subjects: compared(), measure: instant,
		rows: []row{
			// A negative figure means that the first deletion was early.
			newRow("instant to first deletion", "ms", first, report.AtMost(100, ""), report.AtLeast(0, ""),
				report.Reported(report.Baseline), report.Reported(report.Original)),
			newRow("instant to deletion, median", "s", median, report.AtMost(late, report.Baseline),
				report.Reported(report.Original)),
			newRow("instant to last deletion", "s", last, report.AtMost(1, report.Original),
				report.Reported(report.Baseline)),
			newRow("rate from the instant on", "pods/s", rate, report.AtLeast(0.9, report.Baseline),
				report.Reported(report.Original)),
		},
	}
}

func instant(ctx context.Context, w *world, s subject) (outcome, error) {
	l, err := w.newWorkload(ctx, size{nodes: burstNodes, each: podsEach, tolerates: tolerated})
	if err != nil {
		return nil, err
	}
	at, r, err := l.countdown(ctx, s)
	if err != nil {
		return nil, err
	}
	if s.plain() {
		if err := load.Pause(ctx, time.Until(at)); err != nil {
			return nil, err
		}
		if err := l.plainly(ctx, s); err != nil {
			return nil, err
		}
	}
	times, err := w.waitFor(ctx, l.pods, burstTimeout)
	if err != nil {
		return nil, err
	}
	if err := stop(r); err != nil {
		return nil, err
	}
	return outcomeOf(times, at), l.clear(ctx)
}

// countdown starts the subject, taints the nodes, and returns the instant when all pods are due.
func (w *workload) countdown(ctx context.Context, s subject) (at time.Time, r *testcluster.Component, err error) {
	switch s.name {
	case report.Baseline:
		err := w.taint(ctx, nil)
		return time.Now().Add(time.Second), r, err
	case report.Original:
		if r, err = w.w.ready(ctx, s); err != nil {
			return at, r, err
		}
		err := w.taint(ctx, nil)
		return time.Now().Add(tolerated), r, err
	}
	// The second of the taint must be later than the second in which the pods were created.
	if err := load.Pause(ctx, 1500*time.Millisecond); err != nil {
		return at, r, err
	}
	since := time.Now().Truncate(time.Second)
	if err := w.taint(ctx, &metav1.Time{Time: since}); err != nil {
		return at, r, err
	}
	// Times in the API are cut off: the taint counts from the next second, unless taint-manager observes it before.
	next := since.Add(time.Second)
	if err := load.Pause(ctx, time.Until(next)); err != nil {
		return at, r, err
	}
	at = next.Add(tolerated)
	if r, err = w.w.ready(ctx, s); err == nil && time.Until(at) < time.Second {
		err = fmt.Errorf("%s was ready too late for the instant: this machine is too slow", s.name)
	}
	return at, r, err
}
