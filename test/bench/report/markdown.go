package report

import (
	"errors"
	"fmt"
	"slices"
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
		if !slices.ContainsFunc(row.Targets, func(t Target) bool { return t.Bound != None }) {
			continue
		}
		if row.Work != work {
			work = row.Work
			fmt.Fprintf(&out, "| **%s** | | | | | |\n", upper(work))
		}
		for _, l := range row.lines() {
			l.markdown(&out, row.Judged)
		}
	}
	return out.String()
}

// markdown writes the line. A judged subject other than taint-manager is named.
func (l line) markdown(out *strings.Builder, judged string) {
	own, beside, mark := l.own, l.beside, ""
	if own != "" && judged != "" {
		own = judged + ": " + own
	}
	if beside != "" {
		beside += ": " + l.figure
	}
	if l.bound {
		mark = map[bool]string{true: "met", false: "**missed**"}[l.met]
	}
	fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", l.what, own, beside, l.ratio, l.target, mark)
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
