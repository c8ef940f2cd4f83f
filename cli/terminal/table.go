package terminal

import (
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
	Rows     [][]Cell
}

// NewTable returns a table without rows.
func NewTable(headings ...string) *Table { return &Table{headings: headings} }

// NoHeadings omits the headings.
func (t *Table) NoHeadings() { t.bare = true }

// Add adds a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Text returns a cell without a colour. Its text is escaped.
func Text(s string) Cell { return Painted(s, Plain) }

// Painted returns a cell with a colour. Its text is escaped.
func Painted(s string, c Colour) Cell { return Cell{Escape(s), c} }

// Print writes the table with two spaces between columns, at most the given number of columns wide; 0 means no limit.
func (t *Table) Print(w *Builder, p Painter, columns int) {
	for _, line := range t.Lines(p, columns) {
		w.WriteString(line + "\n")
	}
}

// Lines returns the lines of the table. If they are wider than the given number of columns, the widest cells are
// shortened, and what still does not fit is cut off; 0 means no limit.
func (t *Table) Lines(p Painter, columns int) []string {
	widths := t.widths()
	narrow(widths, columns)
	top := make([]Cell, len(t.headings))
	for i, name := range t.headings {
		top[i] = Cell{name, Heading}
	}
	var lines []string
	rows := append([][]Cell{top}, t.Rows...)
	if t.bare {
		rows = t.Rows
	}
	for _, row := range rows {
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
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
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
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text), 1)
		}
	}
	return widths
}
