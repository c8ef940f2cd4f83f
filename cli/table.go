package cli

import (
	"strings"
	"unicode/utf8"
)

// cell is one field of a table.
type cell struct {
	text   string
	colour colour
}

// table is rows under their headings. Every row has as many cells as there are headings. An empty cell
// is shown as a dash, unless its column has no heading.
type table struct {
	headings []string
	rows     [][]cell
}

func newTable(headings ...string) *table { return &table{headings: headings} }

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

func text(s string) cell { return cell{text: s} }

// print writes the table in columns, two spaces apart.
func (t *table) print(w *strings.Builder, p painter) {
	widths := t.widths()
	top := make([]cell, len(t.headings))
	for i, name := range t.headings {
		top[i] = cell{name, heading}
	}
	for _, row := range append([][]cell{top}, t.rows...) {
		var line strings.Builder
		for i, c := range row {
			if c.text == "" && t.headings[i] != "" {
				c.text = "-"
			}
			line.WriteString(p.paint(c.colour, c.text))
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
		}
		w.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func (t *table) widths() []int {
	widths := make([]int, len(t.headings))
	for i, name := range t.headings {
		widths[i] = utf8.RuneCountInString(name)
	}
	for _, row := range t.rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text), 1)
		}
	}
	return widths
}
