package main

import (
	"context"
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/internal/bench/report"
	"github.com/taint-manager/taint-manager/internal/load"
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
func (m *sharedWorkload) atLeast(ctx context.Context, w *world, nodes int) (err error) {
	if m.workload == nil {
		m.workload, err = w.newWorkload(ctx, size{nodes: min(nodes, someNodes)})
		if err != nil {
			return err
		}
	}
	if missing := nodes - len(m.nodes); missing > 0 {
		began := time.Now()
		if err := m.grow(ctx, size{nodes: missing}); err != nil {
			return err
		}
		w.say("there are %d pods; %d were made in %.0f s", len(m.pods), missing*podsEach, time.Since(began).Seconds())
	}
	return nil
}

// memory measures the memory of idle subjects after they have listed the whole cluster.
func (m *sharedWorkload) memory(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	row := report.Row{
		Work: "30,000 pods, nothing tainted", What: "resident memory", Unit: "MB",
		Targets: []report.Target{report.AtMost(0.2, report.Original)},
	}
	if err := m.atLeast(ctx, w, someNodes); err != nil {
		return nil, err
	}
	fewer, err := w.memories(ctx, ours(), 1)
	if err != nil {
		return nil, err
	}
	less := len(m.pods)
	if err := m.atLeast(ctx, w, manyNodes); err != nil {
		return nil, err
	}
	for _, s := range []subject{ours(), originalUnlimited()} {
		figures, err := w.memories(ctx, s, rounds)
		if err != nil {
			return nil, err
		}
		row.Results = append(row.Results, report.Result{Subject: s.name, Rounds: figures})
	}
	var further report.Series // bytes
	for _, more := range row.Results[0].Rounds {
		further = append(further, (more-fewer.Median())*1e6/float64(len(m.pods)-less))
	}
	return []report.Row{row, {
		Work: row.Work, What: "for each pod after the first 10,000", Unit: "bytes",
		Results: []report.Result{{Subject: report.Ours, Rounds: further}}, Targets: []report.Target{report.AtMost(1000, "")},
	}}, nil
}

// memories starts a subject several times and reads its memory, in MB, after it is ready and was left alone for a
// while.
func (w *world) memories(ctx context.Context, s subject, rounds int) (figures report.Series, err error) {
	for range rounds {
		p, err := w.ready(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := pause(ctx, settling); err != nil {
			return nil, err
		}
		now, peak, err := load.Memory(p.Pid())
		if err != nil {
			return nil, err
		}
		w.say("%-24s %.1f MB in memory, at most %.1f MB so far", s.name, now, peak)
		figures = append(figures, now)
		if err := p.Stop(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return figures, nil
}

// rival returns the subject with which taint-manager is compared: the original, or another build.
func (w *world) rival() subject {
	if w.against != "" {
		return otherBuild(w.against)
	}
	return originalUnlimited()
}

// byTurns measures taint-manager and its rival alternately in each round, as machines drift.
func (w *world) byTurns(rounds int, measure func(s subject, round int) (float64, error)) (results []report.Result, err error) {
	figures := map[string]report.Series{}
	subjects := []subject{ours(), w.rival()}
	for round := range rounds {
		for _, s := range subjects {
			figure, err := measure(s, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			figures[s.name] = append(figures[s.name], figure)
		}
	}
	for _, s := range subjects {
		results = append(results, report.Result{Subject: s.name, Rounds: figures[s.name]})
	}
	return results, nil
}
