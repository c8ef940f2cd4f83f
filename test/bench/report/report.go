// Package report presents the results of the benchmarks: figures, round by round, targets, and whether they are
// met; as a table, as JSON, and as a picture. It is pure: the same figures give the same bytes.
package report

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

// Target bounds the figure of the judged subject, or the ratio of this figure to another subject's.
type Target struct {
	Of    string  `json:"of,omitempty"` // the other subject; empty if there is none
	Bound Bound   `json:"bound"`
	Limit float64 `json:"limit"`

	*Verdict // only in the JSON
}

// Bound is the direction of a limit.
type Bound string

// The bounds.
const (
	Least       Bound = "at least"
	AtMostBound Bound = "at most"
	None        Bound = "reported" // no target
)

// AtLeast returns the target that the figure is at least limit times that of the subject of; if of is empty, at
// least limit.
func AtLeast(limit float64, of string) Target { return Target{Of: of, Bound: Least, Limit: limit} }

// AtMost returns the target that the figure is at most limit times that of the subject of; if of is empty, at most
// limit.
func AtMost(limit float64, of string) Target { return Target{Of: of, Bound: AtMostBound, Limit: limit} }

// Reported returns a target that only shows the ratio.
func Reported(of string) Target { return Target{Of: of, Bound: None} }

// judged returns the subject with targets.
func (r Row) judged() string {
	if r.Judged == "" {
		return Ours
	}
	return r.Judged
}

// of returns a subject's figures, or nil.
func (r Row) of(subject string) Series {
	for _, result := range r.Results {
		if result.Subject == subject {
			return result.Rounds
		}
	}
	return nil
}

// Verdict is the result for a target.
type Verdict struct {
	Rounds Series  `json:"rounds"` // the ratios, or the figures if the target is not a ratio
	Median float64 `json:"median"`
	Met    bool    `json:"met"` // by the median; true if there is no target
}

// Judge compares the figures of the judged subject with a target. Without figures the target is not met.
func (r Row) Judge(t Target) Verdict {
	figures := r.of(r.judged())
	if t.Of != "" {
		figures = figures.over(r.of(t.Of))
	}
	v := Verdict{Rounds: figures, Median: figures.Median()}
	switch t.Bound {
	case Least:
		v.Met = len(figures) > 0 && v.Median >= t.Limit
	case AtMostBound:
		v.Met = len(figures) > 0 && v.Median <= t.Limit
	case None:
		v.Met = true
	}
	return v
}
