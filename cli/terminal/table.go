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

// Table has rows and headings. Every row has one cell for each heading. An empty cell is displayed as a dash, unless
// its column has no heading.
type Table struct {
	headings []string
	bare     bool // without its headings
	Rows     []Row
}

// Row returns the cells of a row, the same at each call.
type Row func() []Cell

// NewTable returns a table without rows.
func NewTable(headings ...string) *Table { return &Table{headings: headings} }

// NoHeadings omits the headings.
func (t *Table) NoHeadings() { t.bare = true }

// Add adds a row.
func (t *Table) Add(cells ...Cell) { t.AddRow(func() []Cell { return cells }) }

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

// Lines returns the lines of the table. If they are wider than the given number of columns, the widest cells are
// shortened, and what still does not fit is cut off; 0 means no limit.
func (t *Table) Lines(p Painter, columns int) iter.Seq[string] {
	return func(yield func(string) bool) {
		widths := t.widths()
		narrow(widths, columns)
		if !t.bare && !yield(t.line(t.top(), widths, p, columns)) {
			return
		}
		for _, row := range t.Rows {
			if !yield(t.line(row(), widths, p, columns)) {
				return
			}
		}
	}
}

// top is the row of the headings.
func (t *Table) top() []Cell {
	top := make([]Cell, len(t.headings))
	for i, name := range t.headings {
		top[i] = Cell{name, Heading}
	}
	return top
}

func (t *Table) line(row []Cell, widths []int, p Painter, columns int) string {
	var line strings.Builder
	room := columns
	for i, c := range row {
		if c.text == "" && t.headings[i] != "" {
			c = Cell{"-", Plain} // the dash has no colour
		}
		c.text = shortened(c.text, widths[i])
		fitting, full := Fit(c.text, room, columns)
		line.WriteString(string(p.Paint(c.colour, fitting)))
		if full {
			break
		}
		line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
		room -= widths[i] + 2
	}
	return strings.TrimRight(line.String(), " ")
}

// narrowest is the width below which columns are not shortened.
const narrowest = 8

// narrow shortens the widest columns until all fit into the given number of columns; 0 means no limit.
func narrow(widths []int, columns int) {
	over := 2*(len(widths)-1) - columns
	for _, width := range widths {
		over += width
	}
	for ; columns > 0 && over > 0; over-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			return
		}
		widths[widest]--
	}
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

// Fit returns as much of a text as fits into the room, and reports whether the room is full. If columns is 0,
// everything fits.
func Fit(text string, room, columns int) (fitting string, full bool) {
	runes := []rune(text)
	switch {
	case columns == 0 || len(runes) <= room:
		return text, false
	case room < 1:
		return "", true
	}
	return string(runes[:room-1]) + "…", true
}

func (t *Table) widths() []int {
	widths := make([]int, len(t.headings))
	for i, name := range t.headings {
		if !t.bare {
			widths[i] = utf8.RuneCountInString(name)
		}
	}
	for _, row := range t.Rows {
		for i, c := range row() {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text), 1)
		}
	}
	return widths
}
