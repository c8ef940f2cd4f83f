package main

import (
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// The subjects of all comparisons.
const (
	ours           = report.Ours
	builtin        = report.Builtin
	builtinDefault = "built-in, default"
	baseline       = "plain workers"
	otherBuild     = "other build"
)

// The times of pods count from when the first taint is sent, or from when the pods are due.
var (
	rate        = report.Figure{What: "rate", Unit: "pods/s"}
	first       = report.Figure{What: "to the first deletion", Unit: "ms"}
	median      = report.Figure{What: "to deletion, median", Unit: "s"}
	p99         = report.Figure{What: "to deletion, 99th percentile", Unit: "s"}
	last        = report.Figure{What: "to the last deletion", Unit: "s"}
	onePod      = report.Figure{What: "taint to deletion", Unit: "ms"}
	eventWrites = report.Figure{What: "events written until the last deletion", Unit: "events"}
	eventShare  = report.Figure{What: "events written until the last deletion, in deletions", Unit: "times"}
	events      = report.Figure{What: "last deletion to last event stored", Unit: "s"}
	cpu         = report.Figure{What: "processor time", Unit: "s"}
	serverCPU   = report.Figure{What: "processor time of the API server", Unit: "s"}
	etcdCPU     = report.Figure{What: "processor time of etcd", Unit: "s"}
	calls       = report.Figure{What: "calls until the last deletion", Unit: "calls"}
	cpuEach     = report.Figure{What: "processor time for each of 5000 status updates that change nothing", Unit: "us"}
	memory      = report.Figure{What: "resident memory when idle", Unit: "MB"}
	peak        = report.Figure{What: "peak memory", Unit: "MB"}
	starting    = report.Figure{What: "process start to first deletion", Unit: "s"}
)

// outcomeOf summarizes the times of the deletions.
func outcomeOf(times []time.Time, began time.Time) report.Outcome {
	after := make(report.Series, len(times))
	for i, at := range times {
		after[i] = at.Sub(began).Seconds()
	}
	return report.Outcome{
		rate: float64(len(after)) / after.Quantile(1), first: 1e3 * after.Quantile(0), median: after.Median(),
		p99: after.Quantile(0.99), last: after.Quantile(1),
	}
}
