package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// work is a comparison of taint-manager with the subjects of its targets by one measurement.
type work struct {
	name, title string
	evict       bool // by the eviction subresource
	measure     measurement
	rows        []wanted
}

type measurement func(ctx context.Context, w *world, s subject) (report.Outcome, error)

type targets = []report.Target

// wanted is a row of the table, without the results.
type wanted struct {
	figure  report.Figure
	targets targets
}

const late = 1.15 // the maximum ratio of a latency to the baseline's

func works() []work {
	both := targets{report.NoLimit(baseline), report.NoLimit(builtin)}
	costs := []wanted{{calls, both}, {serverCPU, both}, {etcdCPU, both}}
	return []work{
		{
			name: "burst", title: "3000 pods of 100 nodes at once, from the first taint on",
			measure: burst(false, false),
			rows: append([]wanted{
				{rate, targets{
					report.AtLeast(0.9, baseline), report.AtLeast(1.3, builtin), report.AtLeast(30, builtinDefault),
				}},
				{median, targets{report.AtMost(late, baseline), report.NoLimit(builtin)}},
				{p99, targets{report.AtMost(late, baseline), report.NoLimit(builtin)}},
				{events, targets{report.AtMost(30, "")}},
				{eventShare, targets{report.AtMost(0.05, "")}},
				{cpu, targets{report.AtMost(0.45, builtin)}},
				{peak, targets{report.NoLimit(builtin)}},
			}, costs...),
		},
		{
			name: "overloaded", title: "overloaded API server: the same 3000 pods, while it may use half a core",
			measure: burst(false, true),
			rows: append([]wanted{
				{rate, targets{report.AtLeast(0.9, baseline), report.NoLimit(builtin)}},
				{p99, both},
				{events, targets{report.AtMost(30, "")}},
				{cpu, targets{report.NoLimit(builtin)}},
				{eventWrites, targets{report.NoLimit(builtin)}},
			}, costs...),
		},
		{
			name: "instant", title: "3000 pods of 100 nodes, from the instant on at which all are due", measure: instant,
			rows: []wanted{
				{first, targets{report.AtMost(100, ""), report.AtLeast(0, "")}}, // negative: an early deletion
				{rate, targets{report.AtLeast(0.9, baseline), report.AtLeast(1, builtin)}},
				{last, targets{report.AtMost(late, baseline)}},
			},
		},
		{
			name: "idle", title: "one pod on an idle cluster", measure: idle,
			rows: []wanted{{onePod, targets{report.AtMost(1.4, baseline), report.AtMost(1, builtin)}}},
		},
		{
			name: "evict", title: "3000 Running pods of 100 nodes, --eviction-method=evict", evict: true,
			measure: burst(true, false),
			rows: []wanted{
				{rate, targets{report.AtLeast(0.9, baseline)}}, {median, targets{report.NoLimit(baseline)}},
			},
		},
		{
			name: "population", title: "a cluster of 30,000 pods, of which one is due", measure: population,
			rows: []wanted{
				{starting, targets{report.AtMost(0.55, builtin)}},
				{memory, targets{report.AtMost(0.16, builtin)}},
				{cpuEach, targets{report.AtMost(0.4, builtin)}},
			},
		},
	}
}

func names() (list []string) {
	for _, k := range works() {
		list = append(list, k.name)
	}
	return list
}

// measure runs the works that the options name.
func measure(ctx context.Context, o options) (rows []report.Row, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := newWorld(ctx, o.against)
	if err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		err = errors.Join(err, w.Stop())
	}()
	for _, k := range works() {
		if !slices.Contains(o.works, k.name) {
			continue
		}
		began := time.Now()
		more, err := k.run(ctx, w, o.rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		rows = append(rows, more...)
		w.say("%s took %v", k.name, time.Since(began).Round(time.Second))
	}
	return rows, nil
}

// run measures the subjects in turn. Every other round has the reversed order, so that no subject always comes after
// the same one. The built-in controller with its default limits has one round only. Another build, if there is one, is
// compared instead of the built-in controller and the plain workers.
func (w work) run(ctx context.Context, on *world, rounds int) (rows []report.Row, err error) {
	if on.against != "" {
		for i := range w.rows {
			w.rows[i].targets = targets{report.NoLimit(otherBuild)}
		}
	}
	all := map[string][]report.Outcome{}
	for round := range rounds {
		turn := w.subjects()
		if round%2 == 1 {
			slices.Reverse(turn)
		}
		for _, name := range turn {
			if round > 0 && name == builtinDefault {
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
	for _, want := range w.rows {
		rows = append(rows, report.NewRow(w.title, want.figure, want.targets, all))
	}
	return rows, nil
}

// subjects returns taint-manager and the subjects of all targets.
func (w work) subjects() []string {
	all := []string{ours}
	for _, r := range w.rows {
		for _, t := range r.targets {
			if t.Of != "" && !slices.Contains(all, t.Of) {
				all = append(all, t.Of)
			}
		}
	}
	return all
}
