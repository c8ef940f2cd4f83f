package report

import (
	"errors"
	"fmt"
	"strings"
)

// The lines between which a document has the table.
const (
	tableBegins = "<!-- make bench writes from here -->\n"
	tableEnds   = "<!-- to here -->\n"
)

// Markdown shows the summary as tables, one for each work.
func Markdown(s Summary) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d cores (%s). Medians of %d rounds where not said otherwise, in brackets the lowest and the highest round.\n",
		s.Machine.Date, s.Machine.Cores, s.Machine.CPU, s.Rounds)
	work := ""
	for _, row := range s.Rows {
		if row.Work != work {
			work = row.Work
			fmt.Fprintf(&out, "\n**%s**\n\n| | %s | beside | ratio | target | |\n|---|---|---|---|---|---|\n", upper(work), row.judged())
		}
		row.markdown(&out)
	}
	return out.String()
}

// markdown writes a line for each target of a row, one at least.
func (r Row) markdown(out *strings.Builder) {
	what, own := r.What, spread(r.of(r.judged()), " "+r.Unit)
	if len(r.Targets) == 0 {
		fmt.Fprintf(out, "| %s | %s | | | | |\n", what, own)
	}
	for _, t := range r.Targets {
		v := r.Judge(t)
		beside, ratio, mark := "", "", map[bool]string{true: "met", false: "**missed**"}[v.Met]
		if t.Of != "" {
			beside, ratio = t.Of+": "+spread(r.of(t.Of), " "+r.Unit), spread(v.Rounds, "")
		}
		if t.Bound == None {
			mark = ""
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", what, own, beside, ratio, t.text(r.Unit), mark)
		what, own = "", ""
	}
}

// Insert puts the tables into a document in the place of those that are there.
func Insert(document string, s Summary) (string, error) {
	before, rest, found := strings.Cut(document, tableBegins)
	_, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		return "", errors.New("it has no place for the table: the lines " + tableBegins + tableEnds + "are missing")
	}
	return before + tableBegins + Markdown(s) + tableEnds + after, nil
}
