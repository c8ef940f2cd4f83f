package terminal

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// layout has the columns of a table that are shown, and their widths.
type layout[T any] struct {
	table   *Table[T]
	columns int      // of the terminal; 0 means no limit
	widths  []int    // by column
	first   []string // the cells of the first row
	same    []bool   // whether all cells of the column are as the first
	shown   []int    // indexes of columns
	leftOut []string // names of columns, with the value if all cells have the same
}

// layout returns the layout for that many columns of the terminal.
func (t *Table[T]) layout(columns int) *layout[T] {
	all := len(t.Columns)
	l := &layout[T]{
		table: t, columns: columns, widths: make([]int, all), first: make([]string, all),
		same: slices.Repeat([]bool{true}, all),
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if !t.Bare {
			l.widths[i] = utf8.RuneCountInString(c.Heading)
		}
		for n, row := range t.Rows {
			text := Escape(c.Text(row))
			if n == 0 {
				l.first[i] = text
			}
			l.same[i] = l.same[i] && text == l.first[i]
			l.widths[i] = max(l.widths[i], utf8.RuneCountInString(text), 1)
		}
		if !l.same[i] || l.first[i] != "" && l.first[i] != Escape(c.Said) {
			l.shown = append(l.shown, i)
		}
	}
	if columns > 0 {
		l.narrow()
	}
	return l
}

// over returns by how much the table is too wide.
func (l *layout[T]) over() int {
	over := 2*(len(l.shown)-1) - l.columns
	for _, i := range l.shown {
		over += l.widths[i]
	}
	return over
}

// narrow lets columns give way until the others fit: first those that are the same in all rows, then those that may go,
// and then the widest are shortened.
func (l *layout[T]) narrow() {
	for _, give := range []Give{GoesIfSame, Goes} {
		for _, i := range slices.Clone(l.shown) {
			if l.table.Columns[i].Give == give && l.over() > 0 && (give == Goes || l.same[i]) {
				l.leaveOut(i)
			}
		}
	}
	for over := l.over(); over > 0; over-- {
		widest := slices.MaxFunc(l.shown, func(a, b int) int { return cmp.Compare(l.spare(a), l.spare(b)) })
		if l.spare(widest) <= 0 {
			return
		}
		l.widths[widest]--
	}
}

// leaveOut leaves a column out.
func (l *layout[T]) leaveOut(i int) {
	l.shown = slices.DeleteFunc(l.shown, func(shown int) bool { return shown == i })
	name := l.table.Columns[i].Heading
	if l.table.Columns[i].Give == GoesIfSame {
		name += " (" + l.first[i] + ")"
	}
	l.leftOut = append(l.leftOut, name)
}

// narrowest is the width below which columns are not shortened.
const narrowest = 8

// spare returns by how much a column can be shortened.
func (l *layout[T]) spare(i int) int {
	if l.table.Columns[i].Give == Stays {
		return 0
	}
	return l.widths[i] - narrowest
}
