package report

import (
	"errors"
	"fmt"
	"strings"
)

// The lines around the table in a document.
const (
	tableBegins = "<!-- make bench writes from here -->\n"
	tableEnds   = "<!-- to here -->\n"
)

// Markdown returns one table of the figures that have a target, with all their comparisons. The other figures are in
// the JSON only.
func Markdown(s Summary) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d cores (%s). Medians of %d rounds; in brackets the lowest and the highest round.\n\n",
		s.Machine.Date, s.Machine.Cores, s.Machine.CPU, s.Rounds)
	out.WriteString("| | taint-manager | compared with | ratio | target | |\n|---|---|---|---|---|---|\n")
	work := ""
	for _, row := range s.Rows {
		if !row.hasTarget() {
			continue
		}
		if row.Work != work {
			work = row.Work
			fmt.Fprintf(&out, "| **%s** | | | | | |\n", upper(work))
		}
		row.markdown(&out)
	}
	return out.String()
}

// hasTarget reports whether a figure of the row has a target.
func (r Row) hasTarget() bool {
	for _, t := range r.Targets {
		if t.Bound != None {
			return true
		}
	}
	return false
}

// markdown writes a line for each target and comparison of a row.
func (r Row) markdown(out *strings.Builder) {
	what, own := r.What, spread(r.of(r.judged()), " "+r.Unit)
	if r.Judged != "" {
		own = r.Judged + ": " + own
	}
	for _, t := range r.Targets {
		v := r.Judge(t)
		beside, ratio, mark := "", "", map[bool]string{true: "met", false: "**missed**"}[v.Met]
		if t.Bound == None {
			mark = ""
		}
		if t.Of != "" {
			beside, ratio = t.Of+": "+spread(r.of(t.Of), " "+r.Unit), spread(v.Rounds, "")
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", what, own, beside, ratio, t.text(r.Unit), mark)
		what, own = "", ""
	}
}

// Insert replaces the table of a document. It fails if the document has no place for one.
func Insert(document string, s Summary) (string, error) {
	before, rest, found := strings.Cut(document, tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		return "", errors.New("it has no place for the table: the lines " + tableBegins + tableEnds + "are missing")
	}
	return before + tableBegins + Markdown(s) + tableEnds + after, nil
}
