package answer

import (
	"fmt"
	"strings"

	"github.com/taint-manager/taint-manager/cli/terminal"
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
func (t *Text) Table(list *terminal.Table) {
	if len(list.Rows) == 0 {
		return
	}
	if t.Bare {
		list.NoHeadings()
	} else if t.Len() > 0 {
		t.WriteString("\n")
	}
	list.Print(&t.Builder, t.Painter, t.columns)
}

// maxRows is the maximal number of rows of each table of a summary.
const maxRows = 10

// Top writes the first rows of a table, and the number of the others.
func (t *Text) Top(list *terminal.Table) {
	more := len(list.Rows) - maxRows
	if more > 0 {
		list.Rows = list.Rows[:maxRows]
	}
	t.Table(list)
	if more > 0 && !t.Bare {
		t.Printf("... and %d more.\n", more)
	}
}

// Count returns a number of things: "1 pod", "3 pods".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Pods returns a number of pods with a verb.
func Pods(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return Count(n, "pod") + " " + many
}

// Few lists a few of many names.
func Few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", ..."
}

// OneLine returns a text without line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Differences is the document that lists how the original would decide otherwise.
const Differences = "docs/semantics.md#what-the-original-does-otherwise"
