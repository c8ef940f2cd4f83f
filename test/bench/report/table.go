package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Table formats the summary as text, with a line for each target.
func Table(s Summary) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d cores, %d rounds; medians, and in brackets the lowest and the highest round.\n",
		s.Machine.Date, s.Machine.Cores, s.Rounds)
	work := ""
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, row := range s.Rows {
		if row.Work != work {
			work = row.Work
			fmt.Fprintf(table, "\n%s\n", upper(work))
			fmt.Fprintf(table, "what\t%s\tbeside\tits figure\tratio\ttarget\tmet\n", row.judged())
		}
		for _, l := range row.lines() {
			met := map[bool]string{true: "yes", false: "NO"}[l.met]
			if !l.bound {
				met = ""
			}
			fmt.Fprintln(table, strings.Join([]string{l.what, l.own, l.beside, l.figure, l.ratio, l.target, met}, "\t"))
		}
	}
	_ = table.Flush() // a Builder never fails
	return out.String()
}

// line is a comparison with one target, as text.
type line struct {
	what, own             string // of the first line of a row only
	beside, figure, ratio string // empty if the target is not a ratio
	target                string
	bound, met            bool
}

// lines returns a line for each target of a row, and at least one.
func (r Row) lines() (list []line) {
	for _, t := range r.Targets {
		v := r.Judge(t)
		l := line{target: t.text(r.Unit), bound: t.Bound != None, met: v.Met}
		if t.Of != "" {
			l.beside, l.figure, l.ratio = t.Of, spread(r.of(t.Of), " "+r.Unit), spread(v.Rounds, "")
		}
		list = append(list, l)
	}
	if len(list) == 0 {
		list = []line{{}}
	}
	list[0].what, list[0].own = r.What, spread(r.of(r.judged()), " "+r.Unit)
	return list
}

// text describes the target.
func (t Target) text(unit string) string {
	switch {
	case t.Bound == None:
		return "reported"
	case t.Of == "":
		return fmt.Sprintf("%s %s %s", t.Bound, number(t.Limit), unit)
	}
	return fmt.Sprintf("%s %s", t.Bound, number(t.Limit))
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
