package terminal

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Cell is one field of a table.
type Cell struct {
	text   string
	colour Colour
}

// String returns the text.
func (c Cell) String() string { return c.text }

// Column describes a column of a table.
type Column struct {
	Heading string
	Give    Give

	// Said is what the text around the table says of all rows. A column whose cells all have this value is left out;
	// so is one without any value.
	Said string
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

// Table has rows and columns. Every row has one cell for each column. An empty cell is displayed as a dash, unless its
// column has no heading.
type Table struct {
	columns []Column
	bare    bool // without its headings
	Rows    []Row
}

// Row returns the cells of a row, the same at each call.
type Row func() []Cell

// NewTable returns a table without rows.
func NewTable(columns ...Column) *Table { return &Table{columns: columns} }

// NoHeadings omits the headings, and the line about columns that were left out.
func (t *Table) NoHeadings() { t.bare = true }

// AddRow adds a row whose cells are made twice, for the widths and for printing, and not kept: a table may have a
// hundred thousand rows.
func (t *Table) AddRow(row Row) { t.Rows = append(t.Rows, row) }

// Text returns a cell without a colour. Its text is escaped.
func Text(s string) Cell { return Painted(s, Plain) }

// Painted returns a cell with a colour. Its text is escaped.
func Painted(s string, c Colour) Cell { return Cell{Escape(s), c} }

// Print writes the table with two spaces between columns, at most the given number of columns wide; 0 means no limit.
func (t *Table) Print(w *Builder, p Painter, columns int) {
	for line := range t.Lines(p, columns) {
		w.WriteString(line)
		w.WriteString("\n")
	}
}

// Lines returns the lines of the table. If they are wider than the given number of columns, columns give way, and a
// last lines name those that are left out; what still does not fit is cut off. 0 means no limit.
func (t *Table) Lines(p Painter, columns int) iter.Seq[string] {
	return func(yield func(string) bool) {
		l := t.layout(columns)
		if !t.bare && !yield(t.line(t.top(), l, p, columns)) {
			return
		}
		for _, row := range t.Rows {
			if !yield(t.line(row(), l, p, columns)) {
				return
			}
		}
		if t.bare || len(l.leftOut) == 0 {
			return
		}
		for _, line := range Wrap("Left out: "+strings.Join(l.leftOut, ", ")+".", columns) {
			if !yield(line) {
				return
			}
		}
	}
}

// top is the row of the headings.
func (t *Table) top() []Cell {
	top := make([]Cell, len(t.columns))
	for i, c := range t.columns {
		top[i] = Cell{c.Heading, Heading}
	}
	return top
}

func (t *Table) line(row []Cell, l *layout, p Painter, columns int) string {
	var line strings.Builder
	room := columns
	for _, i := range l.shown {
		c := row[i]
		if c.text == "" && t.columns[i].Heading != "" {
			c = Cell{"-", Plain} // the dash has no colour
		}
		c.text = shortened(c.text, l.widths[i])
		fitting, full := fit(c.text, room, columns)
		line.WriteString(string(p.Paint(c.colour, fitting)))
		if full {
			break
		}
		line.WriteString(strings.Repeat(" ", l.widths[i]-utf8.RuneCountInString(c.text)+2))
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

// fit returns as much of a text as fits into the room, and reports whether the room is full. If columns is 0,
// everything fits.
func fit(text string, room, columns int) (fitting string, full bool) {
	runes := []rune(text)
	switch {
	case columns == 0 || len(runes) <= room:
		return text, false
	case room < 1:
		return "", true
	}
	return string(runes[:room-1]) + "…", true
}
