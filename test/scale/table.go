package main

import (
	"fmt"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// The figures of one subject. Those that begin with an ellipsis are about what the figure before is about.
var (
	starting      = report.Figure{What: "process start to the first deletion", Unit: "s"}
	startCPU      = report.Figure{What: "processor time of the start", Unit: "s"}
	memory        = report.Figure{What: "resident memory after the start", Unit: "MB"}
	peak          = report.Figure{What: "peak memory of the start", Unit: "MB"}
	updateCores   = report.Figure{What: "10,000 status updates a second", Unit: "cores"}
	judged        = report.Figure{What: "taints on a tenth of the nodes: until all is scheduled", Unit: "s"}
	rate          = report.Figure{What: "a tenth of the pods due together", Unit: "evictions/s"}
	first         = report.Figure{What: "… the first", Unit: "ms"}
	early         = report.Figure{What: "… too early", Unit: "pods"}
	loneMedian    = report.Figure{What: "… lone pods on other nodes meanwhile, median", Unit: "s"}
	requestsEach  = report.Figure{What: "… for each", Unit: "requests"}
	allJudged     = report.Figure{What: "taints on all nodes: until all is scheduled", Unit: "s"}
	allMemory     = report.Figure{What: "… resident memory", Unit: "MB"}
	pageShare     = report.Figure{What: "… the page", Unit: "% of a core"}
	pageMemory    = report.Figure{What: "… the page", Unit: "MB"}
	summaryTime   = report.Figure{What: "… `pending -A -o summary`, killed after 30 s", Unit: "s"}
	summaryMemory = report.Figure{What: "… `pending -A -o summary`", Unit: "MB"}
	nodeTime      = report.Figure{What: "… `pending -A --node NODE`", Unit: "s"}
	takeoverTime  = report.Figure{What: "… restart: from the end of the list of pods to the first write", Unit: "s"}
)

// wanted is a figure with its targets for the largest number of pods.
type wanted struct {
	figure  report.Figure
	targets []report.Target
	linear  bool // the figure may grow as the number of pods
}

func allWanted() []wanted {
	atMost := func(limit float64) []report.Target { return []report.Target{report.AtMost(limit, "")} }
	return []wanted{
		{starting, atMost(60), true},
		{startCPU, nil, true},
		{memory, atMost(1073.7), true}, // 1 GiB
		{peak, atMost(1395.9), false},  // 1.3 GiB
		{updateCores, atMost(0.5), false},
		{judged, atMost(2), false},
		{rate, []report.Target{report.AtLeast(1000, "")}, false},
		{first, atMost(100), false},
		{early, atMost(0), false},
		{loneMedian, atMost(1), false},
		{requestsEach, nil, false},
		{allJudged, nil, true},
		{allMemory, nil, true},
		{pageShare, atMost(2), false},
		{pageMemory, atMost(50), false},
		{summaryTime, atMost(20), false},
		{summaryMemory, atMost(500), false},
		{nodeTime, atMost(5), false},
		{takeoverTime, atMost(5), false},
	}
}

// size has the outcomes for one number of pods.
type size struct {
	pods          int
	ours, builtin report.Outcome // builtin is nil if it was not measured
}

func (s size) title() string { return fmt.Sprintf("%d pods", s.pods) }

// rows returns a row for each size and figure. Targets are for the last size, and growth is from the one before.
func rows(sizes []size) (all []report.Row) {
	for i, s := range sizes {
		last := i == len(sizes)-1
		by := map[string][]report.Outcome{report.Ours: {s.ours}, report.Builtin: {s.builtin}}
		for _, w := range allWanted() {
			var targets []report.Target
			if last {
				targets = w.targets
			}
			if last && i > 0 && w.linear {
				smaller := sizes[i-1]
				by[smaller.title()] = []report.Outcome{smaller.ours}
				targets = append(targets, report.AtMost(float64(s.pods)/float64(smaller.pods), smaller.title()))
			}
			if _, measured := s.builtin[w.figure]; measured {
				targets = append(targets, report.NoLimit(report.Builtin))
			}
			if len(targets) == 0 {
				targets = []report.Target{report.NoLimit("")}
			}
			all = append(all, report.NewRow(s.title(), w.figure, targets, by))
		}
	}
	return all
}
