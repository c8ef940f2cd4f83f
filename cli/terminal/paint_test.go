package terminal

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cell is a cell of a table in these tests.
type cell struct {
	text   string
	colour Colour
}

func cells(texts ...string) (row []cell) {
	for _, text := range texts {
		row = append(row, cell{text, Plain})
	}
	return row
}

// tableOf returns a table with these rows.
func tableOf(columns []Column[[]cell], rows ...[]cell) *Table[[]cell] {
	for i := range columns {
		columns[i].Text = func(row []cell) string { return row[i].text }
		columns[i].Colour = func(row []cell) Colour { return row[i].colour }
	}
	return &Table[[]cell]{Rows: rows, Columns: columns}
}

// lines returns the lines of a table.
func lines(t *Table[[]cell]) []string {
	var b Builder
	t.Print(&b, false, 0)
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}

// Colours add no information to the words, and do not affect the alignment of columns.
func TestWithoutItsColoursATableIsTheSame(t *testing.T) {
	list := tableOf([]Column[[]cell]{{Heading: "POD"}, {Heading: "WHEN"}, {}},
		[]cell{{"web-0", Plain}, {"now", Bad}, {"loses all", Warned}}, []cell{{"größer", Plain}, {"", Bad}, {"", Plain}})
	var plainly, coloured Builder
	list.Print(&plainly, false, 0)
	list.Print(&coloured, true, 0)
	want := "POD     WHEN\nweb-0   now   loses all\ngrößer  -\n"
	if diff := cmp.Diff(want, plainly.String()); diff != "" {
		t.Errorf("without colours (-want +got):\n%s", diff)
	}
	stripped := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured.String(), "")
	if diff := cmp.Diff(want, stripped); diff != "" || strings.Count(coloured.String(), "\x1b") != 8 || strings.Contains(coloured.String(), "m-") {
		t.Errorf("with colours %q (-want +got):\n%s", coloured.String(), diff)
	}
}

func TestATableWithoutHeadings(t *testing.T) {
	list := tableOf([]Column[[]cell]{{Heading: "NAMESPACE"}, {Heading: "POD"}}, cells("a", "web-0"), cells("shop", "b"))
	list.Bare = true
	var got Builder
	list.Print(&got, true, 0)
	if want := "a     web-0\nshop  b\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

func TestATableFitsTheTerminal(t *testing.T) {
	list := tableOf([]Column[[]cell]{{Heading: "POD"}, {Heading: "TAINT"}, {Heading: "WHY"}},
		[]cell{{"web-0", Plain}, {"disk", Bad}, {"after 300s", Plain}}, []cell{{"b", Plain}, {"", Plain}, {"", Plain}})
	for columns, want := range map[int]string{
		0:  "POD    TAINT  WHY|web-0  disk   after 300s|b      -      -|",
		23: "POD    TAINT  WHY|web-0  disk   after 30…|b      -      -|",
		15: "POD    TAINT  …|web-0  disk   …|b      -      -|",
		14: "POD    TAINT …|web-0  disk  …|b      -     …|",
		10: "POD    TA…|web-0  di…|b      - …|",
		5:  "POD …|web-…|b   …|",
		3:  "PO…|we…|b …|",
		1:  "…|…|…|",
	} {
		for _, p := range []Painter{false, true} {
			var b Builder
			list.Print(&b, p, columns)
			got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(b.String(), "")
			if got = strings.ReplaceAll(got, "\n", "|"); got != want {
				t.Errorf("on %d columns %q, want %q", columns, got, want)
			}
		}
	}
}

// A column that says nothing, or what the text above says, is left out without a word, unless a row says something else.
func TestAColumnIsLeftOutThatSaysNothingNew(t *testing.T) {
	columns := []Column[[]cell]{{Heading: "POD"}, {Heading: "NODE", Said: "n1"}, {Heading: "OWNER"}}
	same := tableOf(columns, cells("a", "n1", ""), cells("b", "n1", ""))
	if diff := cmp.Diff([]string{"POD", "a", "b"}, lines(same)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	other := tableOf(columns, cells("a", "n1", ""), cells("b", "n2", ""))
	none := tableOf(columns, cells("a", "", ""))
	if diff := cmp.Diff([]string{"POD", "a"}, lines(none)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"POD  NODE", "a    n1", "b    n2"}, lines(other)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
