package main

import (
	"context"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

// startRounds is the number of starts in each round: they are short, and differ much.
const startRounds = 3

// start measures the time from the start of the process, with 30,000 pods, to the first DELETE, of a pod that was
// due before.
func (sw *sharedWorkload) start(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	if err := sw.atLeast(ctx, w, manyNodes); err != nil {
		return nil, err
	}
	all := results{}
	if err := all.rounds(ctx, w, rounds*startRounds, []subject{ours(), w.rival()}, w.start); err != nil {
		return nil, err
	}
	return []report.Row{
		all.row("start with 30,000 pods, of which one is due", "process start to first DELETE", "s",
			func(o outcome) float64 { return o.first }, report.AtMost(0.75, report.Original)),
	}, nil
}

// start starts and stops a subject, and measures the time to its first DELETE.
func (w *world) start(ctx context.Context, s subject) (o outcome, err error) {
	probe, err := w.newProbe(ctx)
	if err != nil {
		return o, err
	}
	log, err := load.OpenAuditLog(w.AuditLog(), true)
	if err != nil {
		return o, err
	}
	defer log.Close()
	if err := load.Pause(ctx, time.Second); err != nil {
		return o, err
	}
	began, p, err := s.launchAt(ctx, w)
	if err != nil {
		return o, err
	}
	if err := probe.gone(ctx); err != nil {
		return o, err
	}
	at, err := firstDelete(ctx, log, probe.pod.Name)
	if err != nil {
		return o, err
	}
	o.first = at.Sub(began).Seconds()
	return o, p.Stop()
}
