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

// Table is rows under their headings. Every row has as many cells as there are headings. An empty cell
// is shown as a dash, unless its column has no heading.
type Table struct {
	headings []string
	bare     bool // is shown without its headings
	Rows     [][]Cell
}

// NewTable returns a table without rows.
func NewTable(headings ...string) *Table { return &Table{headings: headings} }

// NoHeadings leaves the headings out.
func (t *Table) NoHeadings() { t.bare = true }

// Add adds a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Text is a cell without a colour. Its text is escaped.
func Text(s string) Cell { return Painted(s, Plain) }

// Painted is a cell in a colour. Its text is escaped.
func Painted(s string, c Colour) Cell { return Cell{Escape(s), c} }

// Print writes the table in columns, two spaces apart, within so many columns; 0 is no limit.
func (t *Table) Print(w *Builder, p Painter, columns int) {
	for _, line := range t.Lines(p, columns) {
		w.WriteString(line + "\n")
	}
}

// Lines are those of the table. Where they would be wider than so many columns, the widest cells are shortened,
// and what has no room even then is cut off; 0 is no limit.
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
				c = Cell{"-", Plain} // nothing is neither good nor bad
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

// narrowest is how wide a column stays in which there is more.
const narrowest = 8

// narrow shortens the widest columns until all have room in so many; 0 is no limit.
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

// shortened is a text of so many characters at most: its middle is left out, as names differ at their ends.
func shortened(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	head := width / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-head-1):])
}

// Fit is as much of a text as there is room for, and says whether the room is full. Without a limit of
// columns there is room for all.
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
