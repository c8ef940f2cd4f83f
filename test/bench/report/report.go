// Package report is what commands that measure share: it compares figures with targets, and writes them as a table into
// a document, and as JSON.
package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The subjects that more than one command measures.
const (
	Ours    = "taint-manager"
	Builtin = "built-in, no limits" // no client limits
)

// Figure is what is measured, and its unit.
type Figure struct{ What, Unit string }

// Outcome has the figures of one subject in one round.
type Outcome map[Figure]float64

// String names the figures.
func (o Outcome) String() string {
	var parts []string
	for f, value := range o {
		parts = append(parts, fmt.Sprintf("%s: %.4g %s", f.What, value, f.Unit))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// Series is one figure, measured several times.
type Series []float64

// Quantile returns the smallest figure that at least this share of the figures does not exceed: 0 gives the smallest,
// 1 the largest. Of no figures it is 0.
func (s Series) Quantile(share float64) float64 {
	if len(s) == 0 {
		return 0
	}
	rank := int(math.Ceil(share * float64(len(s))))
	return slices.Sorted(slices.Values(s))[max(rank, 1)-1]
}

// Median returns the figure in the middle.
func (s Series) Median() float64 { return s.Quantile(0.5) }

// over divides each figure by the figure of the same round. If the numbers of rounds differ, it divides by the median
// of other.
func (s Series) over(other Series) (ratios Series) {
	for i, figure := range s {
		by := other.Median()
		if len(other) == len(s) {
			by = other[i]
		}
		if by != 0 {
			ratios = append(ratios, figure/by)
		}
	}
	return ratios
}

// Target bounds taint-manager's figure, or the ratio of this figure to another subject's.
type Target struct {
	Of    string  `json:"of,omitempty"` // the other subject; empty if there is none
	Bound string  `json:"bound"`
	Limit float64 `json:"limit"`
}

// The bounds.
const (
	least    = "at least"
	most     = "at most"
	reported = "reported" // no limit
)

// AtLeast returns a target; of is the subject that taint-manager is compared with, or empty.
func AtLeast(limit float64, of string) Target { return Target{of, least, limit} }

// AtMost is like [AtLeast].
func AtMost(limit float64, of string) Target { return Target{of, most, limit} }

// NoLimit returns a target that cannot be missed.
func NoLimit(of string) Target { return Target{of, reported, 0} }

// verdict is "met" if the median of the figures, or of the ratios, is within the limit. Without figures it is missed.
func (t Target) verdict(figures Series) string {
	median := figures.Median()
	switch {
	case t.Bound == reported:
		return ""
	case len(figures) > 0 && (t.Bound == least && median >= t.Limit || t.Bound == most && median <= t.Limit):
		return "met"
	}
	return "**missed**"
}

// Row is one figure of one work, of all subjects that have it.
type Row struct {
	Work    string            `json:"work"`
	What    string            `json:"what"`
	Unit    string            `json:"unit"`
	Rounds  map[string]Series `json:"rounds"` // by subject
	Targets []Target          `json:"targets"`
}

// NewRow returns the row of a figure with what each subject has of it, round by round.
func NewRow(work string, f Figure, targets []Target, outcomes map[string][]Outcome) Row {
	r := Row{Work: work, What: f.What, Unit: f.Unit, Rounds: map[string]Series{}, Targets: targets}
	for name, rounds := range outcomes {
		for _, o := range rounds {
			if value, measured := o[f]; measured {
				r.Rounds[name] = append(r.Rounds[name], value)
			}
		}
	}
	return r
}

// Report has all results.
type Report struct {
	Date   string `json:"date"`
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu"`
	Rounds int    `json:"rounds"`
	Rows   []Row  `json:"rows"`
}

// The lines around the table in a document.
const (
	tableBegins = "<!-- the table begins -->\n"
	tableEnds   = "<!-- the table ends -->\n"
)

// Markdown returns a table of all figures with their comparisons.
func (r Report) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d cores (%s).", r.Date, r.Cores, r.CPU)
	if r.Rounds > 1 {
		fmt.Fprintf(&out, " Medians of %d rounds; in brackets the lowest and the highest round.", r.Rounds)
	}
	out.WriteString("\n\n| | taint-manager | compared with | ratio | target | |\n|---|---|---|---|---|---|\n")
	work := ""
	for _, row := range r.Rows {
		if row.Work != work {
			work = row.Work
			fmt.Fprintf(&out, "| **%s** | | | | | |\n", strings.ToUpper(work[:1])+work[1:])
		}
		row.markdown(&out)
	}
	return out.String()
}

// markdown writes a line for each target.
func (r Row) markdown(out *strings.Builder) {
	what, own := r.What, spread(r.Rounds[Ours], " "+r.Unit)
	for _, t := range r.Targets {
		figures, theirs, ratio, limit := r.Rounds[Ours], "", "", t.Bound
		if t.Bound != reported {
			limit += " " + number(t.Limit)
		}
		if t.Of != "" {
			figures = figures.over(r.Rounds[t.Of])
			theirs, ratio = t.Of+": "+spread(r.Rounds[t.Of], " "+r.Unit), spread(figures, "")
		} else if t.Bound != reported {
			limit += " " + r.Unit
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", what, own, theirs, ratio, limit, t.verdict(figures))
		what, own = "", ""
	}
}

// spread formats the median and the range of the figures.
func spread(s Series, unit string) string {
	switch len(s) {
	case 0:
		return "none"
	case 1:
		return number(s[0]) + unit
	}
	return fmt.Sprintf("%s%s (%s-%s)", number(s.Median()), unit, number(s.Quantile(0)), number(s.Quantile(1)))
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
func insert(document string, r Report) (string, error) {
	before, rest, found := strings.Cut(document, tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		return "", errors.New("it has no place for the table: the lines " + tableBegins + tableEnds + "are missing")
	}
	return before + tableBegins + r.Markdown() + tableEnds + after, nil
}
