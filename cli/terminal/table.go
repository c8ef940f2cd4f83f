package terminal

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Column is a column of a table of things.
type Column[T any] struct {
	Heading string
	Give    Give

	// Said is what the text around the table says of all rows. A column whose cells all have this value is left out;
	// so is one without any value.
	Said string

	// Text is the text of a cell. Colour is its colour; without Colour it has none.
	Text   func(T) string
	Colour func(T) Colour
}

// cell returns the text and the colour of a cell. The text is escaped.
func (c *Column[T]) cell(of T) (string, Colour) {
	if c.Colour == nil {
		return Escape(c.Text(of)), Plain
	}
	return Escape(c.Text(of)), c.Colour(of)
}

// Give says how a column gives way if the table is too wide.
type Give int

// The ways to give way, the last resort first.
const (
	Shortens   Give = iota // its longest cells are shortened, when no column can be left out any more
	Stays                  // it is always shown whole
	Goes                   // it is left out
	GoesIfSame             // it is left out, before those that go, if all its cells are the same
)

// Table has a row for each thing. An empty cell is displayed as a dash, unless its column has no heading. Cells are
// made twice, for the widths and for printing, and not kept: a table may have a hundred thousand rows.
type Table[T any] struct {
	Rows    []T
	Columns []Column[T]
	Bare    bool // without the headings, and the line about columns that were left out
}

// Print writes the table with two spaces between columns, at most the given number of columns wide; 0 means no limit.
func (t *Table[T]) Print(w *Builder, p Painter, columns int) {
	for line := range t.Lines(p, columns) {
		w.WriteString(line)
		w.WriteString("\n")
	}
}

// Lines returns the lines of the table. If they are wider than the given number of columns, columns give way, and the
// last lines name those that are left out; what still does not fit is cut off. 0 means no limit.
func (t *Table[T]) Lines(p Painter, columns int) iter.Seq[string] {
	return func(yield func(string) bool) {
		l := t.layout(columns)
		heading := func(c *Column[T]) (string, Colour) { return c.Heading, Heading }
		if !t.Bare && !yield(l.line(p, heading)) {
			return
		}
		for _, row := range t.Rows {
			if !yield(l.line(p, func(c *Column[T]) (string, Colour) { return c.cell(row) })) {
				return
			}
		}
		if t.Bare || len(l.leftOut) == 0 {
			return
		}
		for _, line := range Wrap("Left out: "+strings.Join(l.leftOut, ", ")+".", columns) {
			if !yield(line) {
				return
			}
		}
	}
}

// line returns a line of cells.
func (l *layout[T]) line(p Painter, cell func(*Column[T]) (string, Colour)) string {
	var line strings.Builder
	room := l.columns
	for _, i := range l.shown {
		text, colour := cell(&l.table.Columns[i])
		if text == "" && l.table.Columns[i].Heading != "" {
			text, colour = "-", Plain
		}
		text = shortened(text, l.widths[i])
		written := utf8.RuneCountInString(text)
		if l.columns > 0 && written > room {
			line.WriteString(string(p.Paint(colour, cut(text, room))))
			break
		}
		line.WriteString(string(p.Paint(colour, text)))
		line.WriteString(strings.Repeat(" ", l.widths[i]-written+2))
		room -= l.widths[i] + 2
	}
	return strings.TrimRight(line.String(), " ")
}

// shortened returns a text of at most width characters. It omits the middle, because names differ at their ends.
func shortened(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	head := width / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-head-1):])
}

// cut returns the beginning of a longer text, in the given room.
func cut(text string, room int) string {
	if room < 1 {
		return ""
	}
	return string([]rune(text)[:room-1]) + "…"
}
