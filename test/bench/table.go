package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The subjects of all comparisons.
const (
	baseline       = "plain workers"
	ours           = "taint-manager"
	builtin        = "built-in, no limits" // no client limits
	builtinDefault = "built-in, default"
	otherBuild     = "other build"
)

// figure is what is measured, and its unit.
type figure struct{ what, unit string }

// The times of pods count from when the first taint is sent, or from when the pods are due.
var (
	rate        = figure{"rate", "pods/s"}
	first       = figure{"to the first deletion", "ms"}
	median      = figure{"to deletion, median", "s"}
	p99         = figure{"to deletion, 99th percentile", "s"}
	last        = figure{"to the last deletion", "s"}
	onePod      = figure{"taint to deletion", "ms"}
	eventWrites = figure{"events written until the last deletion", "events"}
	eventShare  = figure{"events written until the last deletion, in deletions", "times"}
	events      = figure{"last deletion to last event stored", "s"}
	cpu         = figure{"processor time", "s"}
	serverCPU   = figure{"processor time of the API server", "s"}
	etcdCPU     = figure{"processor time of etcd", "s"}
	calls       = figure{"calls until the last deletion", "calls"}
	cpuEach     = figure{"processor time for each", "us"}
	memory      = figure{"resident memory", "MB"}
	peak        = figure{"peak memory", "MB"}
	starting    = figure{"process start to first deletion", "s"}
)

// outcome has the figures of one subject in one round.
type outcome map[figure]float64

// String names the figures.
func (o outcome) String() string {
	var parts []string
	for f, value := range o {
		parts = append(parts, fmt.Sprintf("%s: %.4g %s", f.what, value, f.unit))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// outcomeOf summarizes the times of the deletions.
func outcomeOf(times []time.Time, began time.Time) outcome {
	after := make(series, len(times))
	for i, at := range times {
		after[i] = at.Sub(began).Seconds()
	}
	return outcome{
		rate: float64(len(after)) / after.quantile(1), first: 1e3 * after.quantile(0), median: after.median(),
		p99: after.quantile(0.99), last: after.quantile(1),
	}
}

// series is one figure, measured several times.
type series []float64

// quantile returns the smallest figure that at least this share of the figures does not exceed: 0 gives the smallest,
// 1 the largest. Of no figures it is 0.
func (s series) quantile(share float64) float64 {
	if len(s) == 0 {
		return 0
	}
	rank := int(math.Ceil(share * float64(len(s))))
	return slices.Sorted(slices.Values(s))[max(rank, 1)-1]
}

func (s series) median() float64 { return s.quantile(0.5) }

// over divides each figure by the figure of the same round. If the numbers of rounds differ, it divides by the median
// of other.
func (s series) over(other series) (ratios series) {
	for i, figure := range s {
		by := other.median()
		if len(other) == len(s) {
			by = other[i]
		}
		if by != 0 {
			ratios = append(ratios, figure/by)
		}
	}
	return ratios
}

// target bounds taint-manager's figure, or the ratio of this figure to another subject's.
type target struct {
	Of    string  `json:"of,omitempty"` // the other subject; empty if there is none
	Bound string  `json:"bound"`
	Limit float64 `json:"limit"`
}

const (
	least    = "at least"
	most     = "at most"
	reported = "reported" // no limit
)

// verdict is "met" if the median of the figures, or of the ratios, is within the limit. Without figures it is missed.
func (t target) verdict(figures series) string {
	median := figures.median()
	switch {
	case t.Bound == reported:
		return ""
	case len(figures) > 0 && (t.Bound == least && median >= t.Limit || t.Bound == most && median <= t.Limit):
		return "met"
	}
	return "**missed**"
}

// row is one figure of one work, of all subjects that have it.
type row struct {
	Work    string            `json:"work"`
	What    string            `json:"what"`
	Unit    string            `json:"unit"`
	Rounds  map[string]series `json:"rounds"` // by subject
	Targets []target          `json:"targets"`
}

// summary has all results.
type summary struct {
	Date   string `json:"date"`
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu"`
	Rounds int    `json:"rounds"`
	Rows   []row  `json:"rows"`
}

// The lines around the table in a document.
const (
	tableBegins = "<!-- make bench writes from here -->\n"
	tableEnds   = "<!-- to here -->\n"
)

// markdown returns a table of all figures with their comparisons.
func (s summary) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d cores (%s). Medians of %d rounds; in brackets the lowest and the highest round.\n\n",
		s.Date, s.Cores, s.CPU, s.Rounds)
	out.WriteString("| | taint-manager | compared with | ratio | target | |\n|---|---|---|---|---|---|\n")
	work := ""
	for _, r := range s.Rows {
		if r.Work != work {
			work = r.Work
			fmt.Fprintf(&out, "| **%s** | | | | | |\n", strings.ToUpper(work[:1])+work[1:])
		}
		r.markdown(&out)
	}
	return out.String()
}

// markdown writes a line for each target.
func (r row) markdown(out *strings.Builder) {
	what, own := r.What, spread(r.Rounds[ours], " "+r.Unit)
	for _, t := range r.Targets {
		figures, theirs, ratio, limit := r.Rounds[ours], "", "", t.Bound
		if t.Bound != reported {
			limit += " " + number(t.Limit)
		}
		if t.Of != "" {
			figures = figures.over(r.Rounds[t.Of])
			theirs, ratio = t.Of+": "+spread(r.Rounds[t.Of], " "+r.Unit), spread(figures, "")
		} else {
			limit += " " + r.Unit
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", what, own, theirs, ratio, limit, t.verdict(figures))
		what, own = "", ""
	}
}

// spread formats the median and the range of the figures.
func spread(s series, unit string) string {
	switch len(s) {
	case 0:
		return "none"
	case 1:
		return number(s[0]) + unit
	}
	return fmt.Sprintf("%s%s (%s-%s)", number(s.median()), unit, number(s.quantile(0)), number(s.quantile(1)))
}

// number formats a figure with three significant digits, or with all digits before the point.
func number(f float64) string {
	digits := 0
	if f != 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(math.Abs(f)))))
	}
	text := strconv.FormatFloat(f, 'f', min(digits, 4), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// insert replaces the table of a document. It fails if the document has no place for a table.
func insert(document string, s summary) (string, error) {
	before, rest, found := strings.Cut(document, tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		return "", errors.New("it has no place for the table: the lines " + tableBegins + tableEnds + "are missing")
	}
	return before + tableBegins + s.markdown() + tableEnds + after, nil
}
