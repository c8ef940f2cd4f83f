package report

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The lines around the table in a document.
const (
	tableBegins = "<!-- make bench writes from here -->\n"
	tableEnds   = "<!-- to here -->\n"
)

// Markdown returns a table of all figures with their comparisons.
func Markdown(s Summary) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d cores (%s). Medians of %d rounds; in brackets the lowest and the highest round.\n\n",
		s.Machine.Date, s.Machine.Cores, s.Machine.CPU, s.Rounds)
	out.WriteString("| | taint-manager | compared with | ratio | target | |\n|---|---|---|---|---|---|\n")
	work := ""
	for _, row := range s.Rows {
		if row.Work != work {
			work = row.Work
			fmt.Fprintf(&out, "| **%s** | | | | | |\n", strings.ToUpper(work[:1])+work[1:])
		}
		row.markdown(&out)
	}
	return out.String()
}

// markdown writes a line for each target. A judged subject other than taint-manager is named.
func (r *Row) markdown(out *strings.Builder) {
	what, own := r.What, spread(r.of(r.judged()), " "+r.Unit)
	if r.Judged != "" {
		own = r.Judged + ": " + own
	}
	for _, t := range r.Targets {
		beside, ratio, target, mark := "", "", string(t.Bound), ""
		if t.Bound != None {
			target += " " + number(t.Limit)
			mark = map[bool]string{true: "met", false: "**missed**"}[t.Met]
		}
		if t.Of != "" {
			beside, ratio = t.Of+": "+spread(r.of(t.Of), " "+r.Unit), spread(t.Rounds, "")
		} else {
			target += " " + r.Unit
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", what, own, beside, ratio, target, mark)
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

// Insert replaces the table of a document. It fails if the document has no place for a table.
func Insert(document string, s Summary) (string, error) {
	before, rest, found := strings.Cut(document, tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		return "", errors.New("it has no place for the table: the lines " + tableBegins + tableEnds + "are missing")
	}
	return before + tableBegins + Markdown(s) + tableEnds + after, nil
}
