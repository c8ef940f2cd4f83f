package main

import (
	"context"
	"time"

	"github.com/taint-manager/taint-manager/internal/bench/report"
	"github.com/taint-manager/taint-manager/internal/load"
)

// startRounds is the number of starts in each round: they are short, and differ much.
const startRounds = 3

// start measures the time from the start of the process, with 30,000 pods, to the first DELETE, of a pod that was
// due before.
func (m *sharedWorkload) start(ctx context.Context, w *world, rounds int) (_ []report.Row, err error) {
	if err := m.atLeast(ctx, w, manyNodes); err != nil {
		return nil, err
	}
	row := report.Row{
		Work: "start with 30,000 pods, of which one is due", What: "process start to first DELETE", Unit: "s",
		Targets: []report.Target{report.AtMost(0.5, report.Original)},
	}
	row.Results, err = w.byTurns(rounds*startRounds, func(s subject, _ int) (float64, error) {
		took, err := w.start(ctx, s)
		if err == nil {
			w.say("%-24s %.2f s to the first DELETE", s.name, took.Seconds())
		}
		return took.Seconds(), err
	})
	return []report.Row{row}, err
}

// start starts and stops a subject, and returns the time to its first DELETE.
func (w *world) start(ctx context.Context, s subject) (time.Duration, error) {
	probe, err := w.newProbe(ctx)
	if err != nil {
		return 0, err
	}
	log, err := load.OpenAuditLog(w.AuditLog(), true)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	if err := pause(ctx, time.Second); err != nil {
		return 0, err
	}
	began, p, err := s.launchAt(ctx, w)
	if err != nil {
		return 0, err
	}
	if err := probe.gone(ctx); err != nil {
		return 0, err
	}
	at, err := firstDelete(ctx, log, probe.pod.Name)
	if err != nil {
		return 0, err
	}
	return at.Sub(began), p.Stop()
}
