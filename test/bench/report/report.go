// Package report judges the results of the benchmarks: figures, round by round, targets, and whether they are met. It
// is pure: the same figures give the same table.
package report

import "cmp"

// The subjects of all comparisons.
const (
	Baseline        = "plain workers"
	Ours            = "taint-manager"
	Original        = "original, no limits" // no client limits
	OriginalDefault = "original, default"
	OtherBuild      = "other build"
)

// Summary has all results.
type Summary struct {
	Machine Machine `json:"machine"`
	Rounds  int     `json:"rounds"`
	Rows    []Row   `json:"rows"`
}

// Machine describes the machine of the measurements.
type Machine struct {
	Date  string `json:"date"` // YYYY-MM-DD
	Cores int    `json:"cores"`
	CPU   string `json:"cpu,omitempty"`
}

// Row is one figure of one work, of all subjects that have it.
type Row struct {
	Work    string   `json:"work"`
	What    string   `json:"what"`
	Judged  string   `json:"judged,omitempty"` // the subject with targets; empty means taint-manager
	Unit    string   `json:"unit"`
	Results []Result `json:"results"`
	Targets []Target `json:"targets"`
}

// Result is one subject's figures, one for each round.
type Result struct {
	Subject string `json:"subject"`
	Rounds  Series `json:"rounds"`
}

// Target bounds the figure of the judged subject, or the ratio of this figure to another subject's. [Row.Judge] sets
// Rounds, Median and Met.
type Target struct {
	Of    string  `json:"of,omitempty"` // the other subject; empty if there is none
	Bound Bound   `json:"bound"`
	Limit float64 `json:"limit"`

	Rounds Series  `json:"rounds"` // the ratios, or the figures if the target is not a ratio
	Median float64 `json:"median"`
	Met    bool    `json:"met"` // by the median; true if there is no limit
}

// Bound is the direction of a limit.
type Bound string

// The bounds.
const (
	Least       Bound = "at least"
	AtMostBound Bound = "at most"
	None        Bound = "reported" // no limit
)

// AtLeast returns the target that the figure is at least limit times that of the subject of; if of is empty, at
// least limit.
func AtLeast(limit float64, of string) Target { return Target{Of: of, Bound: Least, Limit: limit} }

// AtMost returns the target that the figure is at most limit times that of the subject of; if of is empty, at most
// limit.
func AtMost(limit float64, of string) Target { return Target{Of: of, Bound: AtMostBound, Limit: limit} }

// Reported returns a target that only shows the ratio.
func Reported(of string) Target { return Target{Of: of, Bound: None} }

// Judge compares the figures of the judged subject with each target. A limit without figures is not met.
func (r *Row) Judge() {
	for i := range r.Targets {
		t := &r.Targets[i]
		t.Rounds = r.of(r.judged())
		if t.Of != "" {
			t.Rounds = t.Rounds.over(r.of(t.Of))
		}
		t.Median = t.Rounds.Median()
		switch t.Bound {
		case Least:
			t.Met = len(t.Rounds) > 0 && t.Median >= t.Limit
		case AtMostBound:
			t.Met = len(t.Rounds) > 0 && t.Median <= t.Limit
		case None:
			t.Met = true
		}
	}
}

func (r *Row) judged() string { return cmp.Or(r.Judged, Ours) }

// of returns a subject's figures, or nil.
func (r *Row) of(subject string) Series {
	for _, result := range r.Results {
		if result.Subject == subject {
			return result.Rounds
		}
	}
	return nil
}
