package terminal

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tableOf returns a table with these rows.
func tableOf(columns []Column, rows ...[]Cell) *Table {
	list := NewTable(columns...)
	for _, cells := range rows {
		list.AddRow(func() []Cell { return cells })
	}
	return list
}

// Colours add no information to the words, and do not affect the alignment of columns.
func TestWithoutItsColoursATableIsTheSame(t *testing.T) {
	list := tableOf([]Column{{Heading: "POD"}, {Heading: "WHEN"}, {}},
		[]Cell{Text("web-0"), Painted("now", Bad), Painted("loses all", Warned)}, []Cell{Text("größer"), Painted("", Bad), Text("")})
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
	list := tableOf([]Column{{Heading: "NAMESPACE"}, {Heading: "POD"}}, []Cell{Text("a"), Text("web-0")}, []Cell{Text("shop"), Text("b")})
	list.NoHeadings()
	var got Builder
	list.Print(&got, true, 0)
	if want := "a     web-0\nshop  b\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// The widest columns are shortened first, so that the last column stays visible.
func TestATableFitsTheTerminal(t *testing.T) {
	list := tableOf([]Column{{Heading: "POD"}, {Heading: "TAINT"}, {Heading: "WHY"}},
		[]Cell{Text("web-0"), Text("node.kubernetes.io/unreachable"), Text("after 300s")})
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
	list := tableOf([]Column{{"WHEN", Stays, ""}, {"POD", Shortens, ""}, {"NODE", GoesIfSame, ""}, {"TAINT", GoesIfSame, ""}, {"WHY", Goes, ""}},
		[]Cell{Text("in 10m, anyway"), Text("shop/web-12345"), Text("n1"), Text("disk"), Text("not tolerated")},
		[]Cell{Text("now"), Text("shop/web-67890"), Text("n1"), Text("load"), Text("tolerated")})
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
	columns := []Column{{"POD", Shortens, ""}, {"NODE", GoesIfSame, "n1"}, {"OWNER", Shortens, ""}}
	same := tableOf(columns, []Cell{Text("a"), Text("n1"), Text("")}, []Cell{Text("b"), Text("n1"), Text("")})
	if diff := cmp.Diff([]string{"POD", "a", "b"}, slices.Collect(same.Lines(false, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	other := tableOf(columns, []Cell{Text("a"), Text("n1"), Text("")}, []Cell{Text("b"), Text("n2"), Text("")})
	if diff := cmp.Diff([]string{"POD  NODE", "a    n1", "b    n2"}, slices.Collect(other.Lines(false, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
