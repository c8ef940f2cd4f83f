package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

const (
	burstNodes   = 100
	slowNodes    = 5    // for the original with its default client limits
	maxEvents    = 5000 // more than these are not waited for, as listing them is expensive
	burstTimeout = 5 * time.Minute
)

// outcome has the figures of one subject in one round. Times are in seconds; those of pods count from when the
// first taint was sent.
type outcome struct {
	rate               float64 // pods in a second
	first, median, p99 float64
	last               float64 // of the pod that was deleted last
	events             float64 // from the last deletion until all events were stored
	cpu, serverCPU     float64 // the subject's, and the API server's and etcd's
	reads              float64 // GETs of nodes for a pod
	memory, peak       float64 // MB: when idle, and at most
	ended              time.Time
}

// String names the figures that were measured.
func (o outcome) String() string {
	var parts []string
	for _, f := range []struct {
		text   string
		figure float64
	}{
		{"%.1f pods/s", o.rate},
		{"%.4f s to the first", o.first},
		{"%.4f s to the median", o.median},
		{"%.2f s to the 99th percentile", o.p99},
		{"%.2f s to the last", o.last},
		{"%.1f s to the last event", o.events},
		{"CPU %.6f s of its own", o.cpu},
		{"%.2f s of the server's", o.serverCPU},
		{"%.2f GETs of nodes for a pod", o.reads},
		{"%.1f MB when idle", o.memory},
		{"%.0f MB at most", o.peak},
	} {
		if f.figure != 0 {
			parts = append(parts, fmt.Sprintf(f.text, f.figure))
		}
	}
	return strings.Join(parts, ", ")
}

// results are the outcomes of each subject, round by round.
type results map[string][]outcome

// burst measures pods of many nodes that are tainted at once.
func burst(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	if w.against != "" {
		return builds(ctx, w, rounds)
	}
	all := results{}
	if err := all.rounds(ctx, w, 1, []subject{originalOnce()}, w.bursts(size{nodes: slowNodes})); err != nil {
		return nil, err
	}
	if err := all.rounds(ctx, w, rounds, compared(), w.bursts(size{nodes: burstNodes})); err != nil {
		return nil, err
	}
	return burstRows(all), nil
}

// builds compares this build's burst with that of another build.
func builds(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	all := results{}
	if err := all.rounds(ctx, w, rounds, []subject{ours(), w.rival()}, w.bursts(size{nodes: burstNodes})); err != nil {
		return nil, err
	}
	const work = "3000 pods of 100 nodes at once, two builds"
	other := report.Reported(report.OtherBuild)
	return []report.Row{
		all.row(work, "rate", "pods/s", func(o outcome) float64 { return o.rate }, other),
		all.row(work, "taint to deletion, median", "s", func(o outcome) float64 { return o.median }, other),
		all.row(work, "taint to deletion, 99th percentile", "s", func(o outcome) float64 { return o.p99 }, other),
		all.row(work, "processor time", "s", func(o outcome) float64 { return o.cpu }, other),
		all.row(work, "the API server's and etcd's for a pod", "ms", func(o outcome) float64 { return o.serverCPU / 3 },
			other),
		all.row(work, "peak memory", "MB", func(o outcome) float64 { return o.peak }, other),
	}, nil
}

// measurement measures one subject once.
type measurement func(ctx context.Context, s subject) (outcome, error)

// rounds measures the subjects in turn. Every other round has the reversed order, so that no subject always comes
// after the same one.
func (r results) rounds(ctx context.Context, w *world, rounds int, subjects []subject, measure measurement) error {
	for round := range rounds {
		turn := slices.Clone(subjects)
		if round%2 == 1 {
			slices.Reverse(turn)
		}
		for _, s := range turn {
			o, err := measure(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			r[s.name] = append(r[s.name], o)
			w.say("%-24s %v", s.name, o)
		}
	}
	return nil
}

// bursts measures subjects with workloads of this size, which it creates and removes.
func (w *world) bursts(l size) measurement {
	return func(ctx context.Context, s subject) (o outcome, err error) {
		c, err := w.newWorkload(ctx, l)
		if err != nil {
			return o, err
		}
		if o, err = c.burst(ctx, s); err != nil {
			return o, err
		}
		return o, c.clear(ctx)
	}
}

// burst measures one subject with this workload.
func (w *workload) burst(ctx context.Context, s subject) (o outcome, err error) {
	if s.launch == nil {
		return w.evict(ctx, s, 0)
	}
	p, err := w.w.ready(ctx, s)
	if err != nil {
		return o, err
	}
	if o, err = w.evict(ctx, s, p.Pid()); err != nil {
		return o, err
	}
	if s.name == report.Ours && len(w.pods) <= maxEvents {
		stored, err := w.lastEvent(ctx)
		if err != nil {
			return o, err
		}
		o.events = stored.Sub(o.ended).Seconds()
	}
	return o, p.Stop()
}

// evict taints all nodes and waits until all pods are gone.
func (w *workload) evict(ctx context.Context, s subject, pid int) (o outcome, err error) {
	before, err := w.w.spent(ctx, pid)
	if err != nil {
		return o, err
	}
	began := time.Now()
	times, err := w.gone(ctx, s)
	if err != nil {
		return o, err
	}
	after, err := w.w.spent(ctx, pid)
	if err != nil {
		return o, err
	}
	o = outcomeOf(times, began)
	o.cpu, o.serverCPU = after.own-before.own, after.server-before.server
	o.reads = (after.reads - before.reads) / float64(len(w.pods))
	if pid != 0 {
		_, o.peak, err = load.Memory(pid)
	}
	return o, err
}

// gone taints all nodes; plain workers begin at the same time. It returns when each pod was deleted.
func (w *workload) gone(ctx context.Context, s subject) (times []time.Time, err error) {
	var tainting sync.WaitGroup
	var taintErr error
	tainting.Go(func() { taintErr = w.taint(ctx, nil) })
	if s.plain != nil {
		err = w.plainly(ctx, s.plain)
	}
	tainting.Wait()
	if err == nil {
		err = taintErr
	}
	if err != nil {
		return nil, err
	}
	return w.w.waitFor(ctx, w.pods, burstTimeout)
}

// spent is processor time, in seconds, and the number of GETs of nodes.
type spent struct{ own, server, reads float64 }

func (w *world) spent(ctx context.Context, pid int) (s spent, err error) {
	if s.server, err = w.serverCPU(); err != nil {
		return s, err
	}
	metrics, err := w.admin.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return s, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	s.reads = load.Sum(string(metrics), "apiserver_request_total", `resource="nodes"`, `verb="GET"`)
	if pid != 0 {
		s.own, err = cpuSeconds(pid)
	}
	return s, err
}

// outcomeOf summarizes the times of the deletions.
func outcomeOf(times []time.Time, began time.Time) outcome {
	after := make(report.Series, len(times))
	for i, at := range times {
		after[i] = at.Sub(began).Seconds()
	}
	last := after.Quantile(1)
	return outcome{
		rate: float64(len(after)) / last, ended: slices.MaxFunc(times, time.Time.Compare),
		first: after.Quantile(0), median: after.Quantile(0.5), p99: after.Quantile(0.99), last: last,
	}
}

// of returns one figure of all rounds of a subject.
func (r results) of(subject string, figure func(outcome) float64) (s report.Series) {
	for _, o := range r[subject] {
		s = append(s, figure(o))
	}
	return s
}

// row returns the row with one figure of all subjects.
func (r results) row(work, what, unit string, figure func(outcome) float64, targets ...report.Target) report.Row {
	row := report.Row{Work: work, What: what, Unit: unit, Targets: targets}
	for _, name := range report.Subjects() {
		if s := r.of(name, figure); len(s) > 0 {
			row.Results = append(row.Results, report.Result{Subject: name, Rounds: s})
		}
	}
	return row
}

// but returns the results without these subjects.
func (r results) but(subjects ...string) results {
	kept := maps.Clone(r)
	for _, name := range subjects {
		delete(kept, name)
	}
	return kept
}

// late is the maximum ratio of a latency to the baseline's.
const late = 1.15

func burstRows(all results) []report.Row {
	const work = "3000 pods of 100 nodes at once"
	fast := all.but(report.OriginalDefault) // it had fewer pods, which only its rate does not show
	alone := fast.but(report.Baseline)
	return []report.Row{
		all.row(work, "rate", "pods/s", func(o outcome) float64 { return o.rate },
			report.AtLeast(0.9, report.Baseline), report.AtLeast(1.3, report.Original),
			report.AtLeast(30, report.OriginalDefault)),
		fast.row(work, "taint to deletion, median", "s", func(o outcome) float64 { return o.median },
			report.AtMost(late, report.Baseline), report.Reported(report.Original)),
		fast.row(work, "taint to deletion, 99th percentile", "s", func(o outcome) float64 { return o.p99 },
			report.AtMost(late, report.Baseline), report.Reported(report.Original)),
		alone.but(report.Original).row(work, "last deletion to last event stored", "s",
			func(o outcome) float64 { return o.events }, report.AtMost(30, "")),
		alone.row(work, "processor time", "s", func(o outcome) float64 { return o.cpu },
			report.Reported(report.Original)),
		alone.row(work, "peak memory", "MB", func(o outcome) float64 { return o.peak },
			report.Reported(report.Original)),
	}
}
