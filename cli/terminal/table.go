package terminal

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Column is a column of a table of things.
type Column[T any] struct {
	Heading string

	// Said is the value that the text around the table states for all rows. A column whose cells all have this value is
	// left out; so is a column without any value.
	Said string

	// Text is the text of a cell. Colour is its colour; without Colour it has none.
	Text   func(T) string
	Colour func(T) Colour
}

// Table has a row for each thing. An empty cell is displayed as a dash, unless its column has no heading. Cells are
// made twice, for the widths and for printing, and not kept: a table may have a hundred thousand rows.
type Table[T any] struct {
	Rows    []T
	Columns []Column[T]
	Bare    bool // without the headings
}

// Print writes the table with two spaces between cells. It cuts lines to a terminal's width (columns); 0: no limit.
func (t *Table[T]) Print(w *Builder, p Painter, columns int) {
	if columns == 0 {
		columns = math.MaxInt
	}
	shown := t.shown()
	if !t.Bare {
		writeLine(w, p, columns, shown, func(c *Column[T]) (string, Colour) { return c.Heading, Heading })
	}
	for _, row := range t.Rows {
		writeLine(w, p, columns, shown, func(c *Column[T]) (string, Colour) {
			text := Escape(c.Text(row))
			switch {
			case text == "" && c.Heading != "":
				return "-", Plain
			case c.Colour == nil:
				return text, Plain
			}
			return text, c.Colour(row)
		})
	}
}

// sized is a column that is shown, with its width.
type sized[T any] struct {
	*Column[T]
	width int
}

// shown returns the columns that say something new.
func (t *Table[T]) shown() (list []sized[T]) {
	for i := range t.Columns {
		c := &t.Columns[i]
		width, hasValue, isNew := 1, false, false
		if !t.Bare {
			width = max(1, utf8.RuneCountInString(c.Heading)) // 1 is that of a dash
		}
		for _, row := range t.Rows {
			text := Escape(c.Text(row))
			width = max(width, utf8.RuneCountInString(text))
			hasValue, isNew = hasValue || text != "", isNew || text != Escape(c.Said)
		}
		if hasValue && isNew {
			list = append(list, sized[T]{c, width})
		}
	}
	return list
}

// writeLine writes cells as one line, whose maximum length is room. If it cuts the line, the line ends with "…".
func writeLine[T any](w *Builder, p Painter, room int, columns []sized[T], cell func(*Column[T]) (string, Colour)) {
	gap := 0 // before the next cell
	for i, c := range columns {
		text, colour := cell(c.Column)
		if text == "" {
			gap += c.width + 2
			continue
		}
		written := utf8.RuneCountInString(text)
		if last := i == len(columns)-1; gap+written > room || gap+written == room && !last {
			kept := string([]rune(text)[:max(0, room-gap-1)])
			w.WriteString(strings.Repeat(" ", max(0, min(gap, room-1))) + string(p.Paint(colour, kept)) + "…")
			break
		}
		w.WriteString(strings.Repeat(" ", gap) + string(p.Paint(colour, text)))
		room, gap = room-gap-written, c.width-written+2
	}
	w.WriteString("\n")
}
