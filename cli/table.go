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
	for _, line := range t.lines(p, 0) {
		w.WriteString(line + "\n")
	}
}

// lines are those of the table, cut off where they would be wider than so many columns; 0 is no limit.
func (t *table) lines(p painter, columns int) []string {
	widths := t.widths()
	top := make([]cell, len(t.headings))
	for i, name := range t.headings {
		top[i] = cell{name, heading}
	}
	var lines []string
	for _, row := range append([][]cell{top}, t.rows...) {
		var line strings.Builder
		room := columns
		for i, c := range row {
			if c.text == "" && t.headings[i] != "" {
				c.text = "-"
			}
			fitting, full := fit(c.text, room, columns)
			line.WriteString(p.paint(c.colour, fitting))
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

// fit is as much of a text as there is room for, and says whether the room is full. Without a limit of
// columns there is room for all.
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
