package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// figure names a figure of one subject in one round. Times of pods count from when the first taint was sent.
type figure string

const (
	rate      figure = "pods/s"
	first     figure = "s to the first pod"
	median    figure = "s to the median pod"
	p99       figure = "s to the 99th percentile"
	last      figure = "s to the last pod"
	events    figure = "s from the last deletion to the last event" // until all events were stored
	cpu       figure = "s of processor time"
	cpuEach   figure = "s of processor time for each"
	serverCPU figure = "s of the API server's and etcd's for each"
	reads     figure = "GETs of nodes for a pod"
	memory    figure = "MB when idle"
	podMemory figure = "bytes for a pod"
	peak      figure = "MB at most"
)

// outcome has the figures of one subject in one round.
type outcome map[figure]float64

// String names the figures.
func (o outcome) String() string {
	var parts []string
	for _, f := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, fmt.Sprintf("%.4g %s", o[f], f))
	}
	return strings.Join(parts, ", ")
}

// outcomeOf summarizes the times of the deletions.
func outcomeOf(times []time.Time, began time.Time) outcome {
	after := make(report.Series, len(times))
	for i, at := range times {
		after[i] = at.Sub(began).Seconds()
	}
	return outcome{
		rate: float64(len(after)) / after.Quantile(1), first: after.Quantile(0), median: after.Quantile(0.5),
		p99: after.Quantile(0.99), last: after.Quantile(1),
	}
}

// results are the outcomes of each subject, round by round.
type results map[string][]outcome

// row is a row of the table, and the figure that it shows.
type row struct {
	report.Row
	figure figure
}

func newRow(what, unit string, f figure, targets ...report.Target) row {
	return row{report.Row{What: what, Unit: unit, Targets: targets}, f}
}

// inSecond has the number of each unit of time in a second. The second itself is left out.
var inSecond = map[string]float64{"ms": 1e3, "us": 1e6}

// figures returns the row's figure of each subject that has this figure.
func (r row) figures(all results, subjects []string) (list []report.Result) {
	for _, name := range subjects {
		var rounds report.Series
		for _, o := range all[name] {
			if value, measured := o[r.figure]; measured {
				rounds = append(rounds, value*max(inSecond[r.Unit], 1))
			}
		}
		if len(rounds) > 0 {
			list = append(list, report.Result{Subject: name, Rounds: rounds})
		}
	}
	return list
}
