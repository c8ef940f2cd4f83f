package terminal

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// layout has the columns of a table that are shown, and their widths.
type layout struct {
	table   *Table
	widths  []int    // by column
	first   []string // the cells of the first row
	same    []bool   // whether all cells of the column are as the first
	shown   []int    // indexes of columns
	leftOut []string // names of columns, with the value if all cells have the same
}

// layout returns the layout for that many columns of the terminal; 0 means no limit.
func (t *Table) layout(columns int) *layout {
	l := &layout{table: t, widths: make([]int, len(t.columns)), first: make([]string, len(t.columns))}
	l.same = slices.Repeat([]bool{true}, len(t.columns))
	for i, c := range t.columns {
		if !t.bare {
			l.widths[i] = utf8.RuneCountInString(c.Heading)
		}
	}
	for n, row := range t.Rows {
		for i, c := range row() {
			if n == 0 {
				l.first[i] = c.text
			}
			l.same[i] = l.same[i] && c.text == l.first[i]
			l.widths[i] = max(l.widths[i], utf8.RuneCountInString(c.text), 1)
		}
	}
	for i, c := range t.columns {
		if !l.same[i] || l.first[i] != "" && l.first[i] != Escape(c.Said) {
			l.shown = append(l.shown, i)
		}
	}
	if columns > 0 {
		l.narrow(columns)
	}
	return l
}

// over returns by how much the table is too wide.
func (l *layout) over(columns int) int {
	over := 2*(len(l.shown)-1) - columns
	for _, i := range l.shown {
		over += l.widths[i]
	}
	return over
}

// narrow lets columns give way until the others fit: first those that are the same in all rows, then those that may go,
// and then the widest are shortened.
func (l *layout) narrow(columns int) {
	for _, give := range []Give{GoesIfSame, Goes} {
		for _, i := range slices.Clone(l.shown) {
			if l.table.columns[i].Give == give && l.over(columns) > 0 && (give == Goes || l.same[i]) {
				l.leaveOut(i)
			}
		}
	}
	for over := l.over(columns); over > 0; over-- {
		widest := slices.MaxFunc(l.shown, func(a, b int) int { return cmp.Compare(l.spare(a), l.spare(b)) })
		if l.spare(widest) <= 0 {
			return
		}
		l.widths[widest]--
	}
}

// leaveOut leaves a column out.
func (l *layout) leaveOut(i int) {
	l.shown = slices.DeleteFunc(l.shown, func(shown int) bool { return shown == i })
	name := l.table.columns[i].Heading
	if l.table.columns[i].Give == GoesIfSame {
		name += " (" + l.first[i] + ")"
	}
	l.leftOut = append(l.leftOut, name)
}

// narrowest is the width below which columns are not shortened.
const narrowest = 8

// spare returns by how much a column can be shortened.
func (l *layout) spare(i int) int {
	if l.table.columns[i].Give == Stays {
		return 0
	}
	return l.widths[i] - narrowest
}
