package terminal

import (
	"regexp"
	"slices"
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

// The widest columns are shortened first, so that the last column stays visible.
func TestATableFitsTheTerminal(t *testing.T) {
	list := tableOf([]Column[[]cell]{{Heading: "POD"}, {Heading: "TAINT"}, {Heading: "WHY"}},
		cells("web-0", "node.kubernetes.io/unreachable", "after 300s"))
	for columns, want := range map[int][]string{
		0:  {"POD    TAINT                           WHY", "web-0  node.kubernetes.io/unreachable  after 300s"},
		40: {"POD    TAINT                  WHY", "web-0  node.kuber…nreachable  after 300s"},
		36: {"POD    TAINT              WHY", "web-0  node.kub…eachable  after 300s"},
		10: {"POD    TA…", "web-0  no…"},
	} {
		got := slices.Collect(list.Lines(false, columns))
		for _, line := range got {
			if columns > 0 && len([]rune(line)) > columns {
				t.Errorf("on %d columns: %q", columns, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("on %d columns (-want +got):\n%s", columns, diff)
		}
	}
}

// Columns give way in this order: those that are the same in all rows, those that may go, and then all but those that stay
// are shortened.
func TestColumnsGiveWayInTheirOrder(t *testing.T) {
	list := tableOf([]Column[[]cell]{{Heading: "WHEN", Give: Stays}, {Heading: "POD", Give: Shortens}, {Heading: "NODE", Give: GoesIfSame}, {Heading: "TAINT", Give: GoesIfSame}, {Heading: "WHY", Give: Goes}},
		cells("in 10m, anyway", "shop/web-12345", "n1", "disk", "not tolerated"),
		cells("now", "shop/web-67890", "n1", "load", "tolerated"))
	for columns, want := range map[int]string{
		80: "now             shop/web-67890  n1    load   tolerated",
		56: "now             shop/web-67890  load   tolerated|Left out: NODE (n1).",
		50: "now             shop/web-67890  load|Left out: NODE (n1), WHY.",
		34: "now             shop/…67890  load|Left out: NODE (n1), WHY.",
		20: "now             sho…|Left out: NODE (n1),|WHY.",
	} {
		lines := slices.Collect(list.Lines(false, columns))
		if got := strings.Join(lines[2:], "|"); got != want {
			t.Errorf("on %d columns %q, want %q", columns, got, want)
		}
	}
}

// A column that says nothing, or what the text above says, is left out without a word, unless a row says something else.
func TestAColumnIsLeftOutThatSaysNothingNew(t *testing.T) {
	columns := []Column[[]cell]{{Heading: "POD", Give: Shortens}, {Heading: "NODE", Give: GoesIfSame, Said: "n1"}, {Heading: "OWNER", Give: Shortens}}
	same := tableOf(columns, cells("a", "n1", ""), cells("b", "n1", ""))
	if diff := cmp.Diff([]string{"POD", "a", "b"}, slices.Collect(same.Lines(false, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	other := tableOf(columns, cells("a", "n1", ""), cells("b", "n2", ""))
	if diff := cmp.Diff([]string{"POD  NODE", "a    n1", "b    n2"}, slices.Collect(other.Lines(false, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
