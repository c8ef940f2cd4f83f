package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

// long is how long a run must be for its memory to be judged: a process needs minutes to reach its level.
const long = 30 * time.Minute

type result struct {
	options
	minor, changes     int
	faults             []fault
	memory, goroutines report.Series // of the leader
	verdict            *verdict
}

func (r *result) kept() bool {
	steady := r.lasts < long || flat(growth(r.memory, r.lasts)) && flat(growth(r.goroutines, r.lasts))
	return steady && r.verdict.evictions > 0 && len(r.verdict.violations) == 0
}

func (r *result) write(out io.Writer) {
	fmt.Fprintf(out, "\nseed %d, %v, Kubernetes 1.%d, %d nodes, %d pods: %d changes of taints, %d evictions\n\n",
		r.seed, r.lasts, r.minor, nodes, pods, r.changes, r.verdict.evictions)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FAULT\tTIMES")
	times, broken := map[string]int{}, map[string]int{}
	for _, f := range r.faults {
		times[f.name]++
	}
	for _, v := range r.verdict.violations {
		broken[v.promise]++
	}
	for _, k := range kinds {
		fmt.Fprintf(w, "%s\t%d\n", k.name, times[k.name])
	}
	fmt.Fprintln(w, "\nPROMISE\tBROKEN")
	for _, promise := range []string{early, wrong, twice, lost} {
		fmt.Fprintf(w, "nothing %s\t%d\n", promise, broken[promise])
	}
	fmt.Fprintf(w, "\nlongest wait of a due pod without a fault\t%v\n", r.verdict.longest.Round(time.Millisecond))
	fmt.Fprintf(w, "repeated after a lost answer\t%d\n", r.verdict.repeats)
	first, last := growth(r.memory, r.lasts)
	fmt.Fprintf(w, "memory of the leader, first and last\t%.0f MB, %.0f MB\n", first, last)
	first, last = growth(r.goroutines, r.lasts)
	fmt.Fprintf(w, "goroutines of the leader, first and last\t%.0f, %.0f\n", first, last)
	_ = w.Flush()
	for _, v := range r.verdict.violations {
		fmt.Fprintf(out, "\n%s: %s\n", v.promise, v.what)
	}
}
