package answer

import (
	"strings"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// Text is an answer in a form for people.
type Text struct {
	terminal.Builder
	terminal.Painter
	Form   string
	Bare   bool // the rows alone
	Folded bool // a row for each owner and time, because the rows of the pods would not fit the screen

	columns, rows int // of the terminal; 0 is no limit
}

// Wide reports whether the form is wide.
func (t *Text) Wide() bool { return t.Form == AsWide }

// Table writes a table, after an empty line unless it is bare or the first.
func Table[T any](t *Text, list terminal.Table[T]) {
	if len(list.Rows) == 0 {
		return
	}
	list.Bare = t.Bare
	if !t.Bare && t.Len() > 0 {
		t.WriteString("\n")
	}
	list.Print(&t.Builder, t.Painter, t.columns)
}

// MaxRows is the maximal number of rows of each table of a summary.
const MaxRows = 10

// WritePods writes a table of pods, with a row for each pod or, if that is longer than the screen, for each owner and
// time. If that is longer, too, the table ends early.
func WritePods[P Listed](t *Text, list []P, as PodTable[P]) {
	if !t.Folded {
		Table(t, as.Rows(list))
		return
	}
	Top(t, max(MaxRows, t.rows-foldedAround), as.Folded(list))
	if len(list) > 0 {
		t.WriteString("Each row groups pods of one owner with the same deadline; -o table lists every pod.\n")
	}
}

// foldedAround is the number of lines that the text around a folded table takes, about.
const foldedAround = 12

// Top writes the first rows of a table, and the number of the others.
func Top[T any](t *Text, most int, list terminal.Table[T]) {
	hidden := len(list.Rows) - most
	if hidden > 0 {
		list.Rows = list.Rows[:most]
	}
	Table(t, list)
	if hidden > 0 && !t.Bare {
		t.Printf("... and %d more.\n", hidden)
	}
}

// Pods returns a number of pods with a verb.
func Pods(n int, one, many string) string {
	return foresight.Count(n, "pod") + " " + Verb(n, one, many)
}

// Verb returns the verb for a number of things.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// OneLine returns a text without line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
