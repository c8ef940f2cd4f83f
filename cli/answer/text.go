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
	Form string
	Bare bool // the rows alone

	columns int // of the terminal; 0 is no limit
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

const maxRows = 10 // of each table of a summary

// Top writes the first rows of a table, and the number of the others.
func Top[T any](t *Text, list terminal.Table[T]) {
	hidden := len(list.Rows) - maxRows
	if hidden > 0 {
		list.Rows = list.Rows[:maxRows]
	}
	Table(t, list)
	if hidden > 0 && !t.Bare {
		t.Printf("... and %d more.\n", hidden)
	}
}

// Pods returns a number of pods with a verb.
func Pods(n int, one, many string) string {
	return foresight.Count(n, "pod") + " " + foresight.Verb(n, one, many)
}

// OneLine returns a text without line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
