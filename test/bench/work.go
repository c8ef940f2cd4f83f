package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// work is a comparison of several subjects by one measurement.
type work struct {
	name, title string
	subjects    []string // in the order of presentation
	once        []string // the subjects that have one round only
	evict       bool     // by the eviction subresource
	rounds      int      // for each round of the command line; 0 means 1
	fixed       bool     // the command line does not change the number of rounds
	prepare     func(ctx context.Context, w *world) error
	measure     measurement
	rows        []row
	judged      string // the subject with targets; empty means taint-manager
}

// measurement measures one subject once.
type measurement func(ctx context.Context, w *world, s subject) (outcome, error)

// compared are the subjects of most works.
func compared() []string { return []string{report.Baseline, report.Ours, report.Original} }

// stage is a list of works that share a control plane.
type stage struct {
	kubernetes string // its version, such as 1.30; empty means that of the tests
	works      []work
}

// stages returns all works, in order. The works of the second stage share 30,000 pods, which the last of them evicts,
// and so do those of the third.
func stages() []stage {
	olderMemory, olderStart := memoryWork(), startWork()
	olderMemory.name += "-1.30"
	olderStart.name += "-1.30"
	return []stage{
		{works: []work{burstWork(), namespacesWork(), webhookWork(), instantWork(), idleWork(), evictWork()}},
		{works: []work{memoryWork(), statusWork(), startWork(), scaleWork()}},
		{kubernetes: "1.30", works: []work{olderMemory, olderStart}},
	}
}

func names() (list []string) {
	for _, s := range stages() {
		for _, k := range s.works {
			list = append(list, k.name)
		}
	}
	return list
}

// measure runs the works that the options name.
func measure(ctx context.Context, o options) (rows []report.Row, err error) {
	for _, s := range stages() {
		s.works = slices.DeleteFunc(s.works, func(k work) bool { return !slices.Contains(o.works, k.name) })
		if len(s.works) == 0 {
			continue
		}
		more, err := s.measure(ctx, o)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (s stage) measure(ctx context.Context, o options) (rows []report.Row, err error) {
	w, err := newWorld(ctx, s.kubernetes, o.against)
	if err != nil {
		return nil, err
	}
	defer func() {
		if stopErr := w.close(); err == nil {
			err = stopErr
		}
	}()
	for _, k := range s.works {
		began := time.Now()
		more, err := k.run(ctx, w, o.rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		for _, row := range more {
			if s.kubernetes != "" {
				row.Work += ", Kubernetes " + s.kubernetes
			}
			rows = append(rows, row)
		}
		w.say("%s took %v", k.name, time.Since(began).Round(time.Second))
	}
	return rows, nil
}

// run measures the subjects in turn. Every other round has the reversed order, so that no subject always comes after
// the same one. Another build, if there is one, replaces the original and the plain workers.
func (w work) run(ctx context.Context, on *world, rounds int) ([]report.Row, error) {
	if on.against != "" && slices.Contains(w.subjects, report.Original) {
		w.subjects = []string{report.Ours, report.OtherBuild}
		for i := range w.rows {
			w.rows[i].Targets = []report.Target{report.Reported(report.OtherBuild)}
		}
	}
	if w.prepare != nil {
		if err := w.prepare(ctx, on); err != nil {
			return nil, err
		}
	}
	if w.fixed {
		rounds = 1
	}
	all := results{}
	for round := range rounds * max(w.rounds, 1) {
		turn := slices.Clone(w.subjects)
		if round%2 == 1 {
			slices.Reverse(turn)
		}
		for _, name := range turn {
			if round > 0 && slices.Contains(w.once, name) {
				continue
			}
			o, err := w.measure(ctx, on, subject{name: name, evict: w.evict})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all[name] = append(all[name], o)
			on.say("%-24s %v", name, o)
		}
	}
	return w.report(all), nil
}

// report returns the rows with the results.
func (w work) report(all results) (rows []report.Row) {
	for _, r := range w.rows {
		r.Work, r.Judged, r.Results = w.title, w.judged, r.figures(all, w.subjects)
		r.Judge()
		rows = append(rows, r.Row)
	}
	return rows
}
