package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

// bearSeconds is long enough to taint all nodes and to start taint-manager before the instant.
const bearSeconds = 9

// instant measures pods that are all due at one instant. For taint-manager it is exact: the taints have the same
// timeAdded. The original does not read timeAdded; its countdowns begin when it observes a taint, and the instant
// is when the last of them ends.
func instant(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	all := results{}
	if err := all.rounds(ctx, w, rounds, compared(), w.instant); err != nil {
		return nil, err
	}
	const work = "3000 pods of 100 nodes due at one instant"
	first := func(o outcome) float64 { return o.first * 1000 }
	// The first is early if this is negative.
	return []report.Row{
		all.row(work, "instant to first deletion", "ms", first,
			report.AtMost(100, ""), report.AtLeast(0, ""), report.Reported(report.Baseline),
			report.Reported(report.Original)),
		all.row(work, "instant to deletion, median", "s", func(o outcome) float64 { return o.median },
			report.AtMost(late, report.Baseline), report.Reported(report.Original)),
		all.row(work, "instant to last deletion", "s", func(o outcome) float64 { return o.last },
			report.AtMost(1, report.Original), report.Reported(report.Baseline)),
		all.row(work, "rate from the instant on", "pods/s", func(o outcome) float64 { return o.rate },
			report.AtLeast(0.9, report.Baseline), report.Reported(report.Original)),
	}, nil
}

func (w *world) instant(ctx context.Context, s subject) (o outcome, err error) {
	seconds := int64(bearSeconds)
	c, err := w.newWorkload(ctx, size{nodes: burstNodes, bears: &seconds})
	if err != nil {
		return o, err
	}
	at, stop, err := c.countdown(ctx, s)
	if err != nil {
		return o, err
	}
	if s.plain != nil {
		if err := load.Pause(ctx, time.Until(at)); err != nil {
			return o, err
		}
		if err := c.plainly(ctx, s.plain); err != nil {
			return o, err
		}
	}
	times, err := c.w.waitFor(ctx, c.pods, burstTimeout)
	if err != nil {
		return o, err
	}
	if err := stop(); err != nil {
		return o, err
	}
	return outcomeOf(times, at), c.clear(ctx)
}

// countdown starts the subject, taints the nodes, and returns the instant when all pods are due.
func (w *workload) countdown(ctx context.Context, s subject) (at time.Time, stop func() error, err error) {
	bear := bearSeconds * time.Second
	if s.name == report.Original {
		p, err := w.w.ready(ctx, s)
		if err != nil {
			return at, nil, err
		}
		err = w.taint(ctx, nil)
		return time.Now().Add(bear), p.Stop, err
	}
	if s.launch == nil {
		err := w.taint(ctx, nil)
		return time.Now().Add(time.Second), func() error { return nil }, err
	}
	// The pods must have been created in an earlier second than that of the taint.
	if err := load.Pause(ctx, 1500*time.Millisecond); err != nil {
		return at, nil, err
	}
	since := time.Now().Truncate(time.Second)
	if err := w.taint(ctx, &metav1.Time{Time: since}); err != nil {
		return at, nil, err
	}
	// Times in the API are cut off: the taint counts from the next second, unless it is found before.
	at = since.Add(time.Second + bear)
	if err := load.Pause(ctx, time.Until(since.Add(time.Second))); err != nil {
		return at, nil, err
	}
	p, err := w.w.ready(ctx, s)
	if err != nil {
		return at, nil, err
	}
	if time.Until(at) < time.Second {
		return at, nil, fmt.Errorf("%s was ready too late for the instant: this machine is too slow", s.name)
	}
	return at, p.Stop, nil
}
