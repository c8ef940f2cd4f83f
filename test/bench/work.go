package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// work is a comparison of several subjects by one measurement.
type work struct {
	name, title string
	subjects    []string
	once        []string // the subjects that have one round only
	evict       bool     // by the eviction subresource
	starts      int      // measurements in each round of the command line; 0 means 1
	measure     measurement
	rows        []wanted
}

// measurement measures one subject once.
type measurement func(ctx context.Context, w *world, s subject) (outcome, error)

// wanted is a row of the table, without the results.
type wanted struct {
	figure  figure
	targets []target
}

const late = 1.15 // the maximum ratio of a latency to the baseline's

// stage is a list of works that share a control plane.
type stage struct {
	kubernetes string // its version, such as 1.32; empty means that of the tests
	works      []work
}

// stages returns all works, in order. The works of the second stage share 30,000 pods, and so do those of the third.
func stages() []stage {
	return []stage{
		{works: evictions()},
		{works: []work{memoryWork(), statusWork(), startWork(target{builtin, most, 0.55})}},
		{kubernetes: "1.32", works: []work{older(memoryWork()), older(startWork(target{builtin, reported, 0}))}},
	}
}

// evictions are the works that create their own pods.
func evictions() []work {
	return []work{
		{
			name: "burst", title: "3000 pods of 100 nodes at once, from the first taint on",
			subjects: []string{baseline, ours, builtin, builtinDefault}, once: []string{builtinDefault},
			measure: burstOf(size{nodes: burstNodes, each: podsEach}),
			rows: []wanted{
				{rate, []target{{baseline, least, 0.9}, {builtin, least, 1.3}, {builtinDefault, least, 30}}},
				{median, []target{{baseline, most, late}, {builtin, reported, 0}}},
				{p99, []target{{baseline, most, late}, {builtin, reported, 0}}},
				{events, []target{{"", most, 30}}},
				{eventShare, []target{{"", most, 0.05}}},
				{cpu, []target{{builtin, most, 0.45}}},
				{peak, []target{{builtin, reported, 0}}},
				{calls, []target{{baseline, reported, 0}, {builtin, reported, 0}}},
				{serverCPU, []target{{baseline, reported, 0}, {builtin, reported, 0}}},
				{etcdCPU, []target{{baseline, reported, 0}, {builtin, reported, 0}}},
			},
		},
		{
			name: "overloaded", title: "overloaded API server: the same 3000 pods, while it may use half a core",
			subjects: []string{baseline, ours, builtin},
			measure:  burstOf(size{nodes: burstNodes, each: podsEach, overloaded: true}),
			rows: []wanted{
				{rate, []target{{baseline, least, 0.9}, {builtin, reported, 0}}},
				{p99, []target{{baseline, reported, 0}, {builtin, reported, 0}}},
				{events, []target{{"", most, 30}}},
				{cpu, []target{{builtin, reported, 0}}},
				{eventWrites, []target{{builtin, reported, 0}}},
				{calls, []target{{baseline, reported, 0}, {builtin, reported, 0}}},
				{serverCPU, []target{{baseline, reported, 0}, {builtin, reported, 0}}},
				{etcdCPU, []target{{baseline, reported, 0}, {builtin, reported, 0}}},
			},
		},
		{
			name: "webhook", title: "100 pods due with 300 of another namespace that a webhook holds for 30 s",
			subjects: []string{baseline, ours, builtin}, measure: nextToHeld,
			rows: []wanted{
				{median, []target{{"", most, 0.5}, {baseline, reported, 0}, {builtin, reported, 0}}},
				{last, []target{{"", most, 2}, {baseline, reported, 0}, {builtin, reported, 0}}},
			},
		},
		{
			name: "instant", title: "3000 pods of 100 nodes, from the instant on at which all are due",
			subjects: []string{baseline, ours, builtin}, measure: instant,
			rows: []wanted{
				{first, []target{{"", most, 100}, {"", least, 0}}}, // a negative figure means an early deletion
				{rate, []target{{baseline, least, 0.9}, {builtin, least, 1}}},
				{last, []target{{baseline, most, late}}},
			},
		},
		{
			name: "idle", title: "one pod on an idle cluster", subjects: []string{baseline, ours, builtin},
			measure: idle, rows: []wanted{{onePod, []target{{baseline, most, 1.4}, {builtin, most, 1}}}},
		},
		{
			name: "evict", title: "3000 Running pods of 100 nodes, --eviction-method=evict", evict: true,
			subjects: []string{baseline, ours},
			measure:  burstOf(size{nodes: burstNodes, each: podsEach, running: true}),
			rows:     []wanted{{rate, []target{{baseline, least, 0.9}}}, {median, []target{{baseline, reported, 0}}}},
		},
	}
}

func memoryWork() work {
	return work{
		name: "memory", title: "30,000 pods, nothing tainted", subjects: []string{ours, builtin}, measure: idleMemory,
		rows: []wanted{{memory, []target{{builtin, most, 0.16}}}},
	}
}

func statusWork() work {
	return work{
		name: "status", title: "30,000 pods, 5000 updates of pods' status that change nothing",
		subjects: []string{ours, builtin}, measure: statusUpdates,
		rows: []wanted{{cpuEach, []target{{builtin, most, 0.4}}}},
	}
}

func startWork(wants target) work {
	return work{
		name: "start", title: "start with 30,000 pods, of which one is due", starts: 3,
		subjects: []string{ours, builtin}, measure: start,
		rows: []wanted{{starting, []target{wants}}},
	}
}

func older(k work) work {
	k.name, k.title = k.name+"-1.32", k.title+", Kubernetes 1.32"
	return k
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
func measure(ctx context.Context, o options) (rows []row, err error) {
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

func (s stage) measure(ctx context.Context, o options) (rows []row, err error) {
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
		rows = append(rows, more...)
		w.say("%s took %v", k.name, time.Since(began).Round(time.Second))
	}
	return rows, nil
}

// run measures the subjects in turn. Every other round has the reversed order, so that no subject always comes after
// the same one. Another build, if there is one, is compared instead of the built-in controller and the plain workers.
func (w work) run(ctx context.Context, on *world, rounds int) ([]row, error) {
	if on.against != "" {
		w.subjects = []string{ours, otherBuild}
		for i := range w.rows {
			w.rows[i].targets = []target{{otherBuild, reported, 0}}
		}
	}
	all := map[string][]outcome{}
	for round := range rounds * max(w.starts, 1) {
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
	return w.results(all), nil
}

// results returns the rows with the figures of each subject, round by round.
func (w work) results(all map[string][]outcome) (rows []row) {
	for _, want := range w.rows {
		r := row{
			Work: w.title, What: want.figure.what, Unit: want.figure.unit, Targets: want.targets,
			Rounds: map[string]series{},
		}
		for name, outcomes := range all {
			for _, o := range outcomes {
				if value, measured := o[want.figure]; measured {
					r.Rounds[name] = append(r.Rounds[name], value)
				}
			}
		}
		rows = append(rows, r)
	}
	return rows
}
