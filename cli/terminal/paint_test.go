package terminal

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Colours add no information to the words, and do not affect the alignment of columns.
func TestWithoutItsColoursATableIsTheSame(t *testing.T) {
	list := NewTable("POD", "WHEN", "")
	list.Add(Text("web-0"), Painted("now", Bad), Painted("loses all", Warned))
	list.Add(Text("größer"), Painted("", Bad), Text(""))
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
	list := NewTable("NAMESPACE", "POD")
	list.NoHeadings()
	list.Add(Text("a"), Text("web-0"))
	list.Add(Text("shop"), Text("b"))
	var got Builder
	list.Print(&got, true, 0)
	if want := "a     web-0\nshop  b\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// The widest columns are shortened first, so that the last column stays visible.
func TestATableFitsTheTerminal(t *testing.T) {
	list := NewTable("POD", "TAINT", "WHY")
	list.Add(Text("web-0"), Text("node.kubernetes.io/unreachable"), Text("after 300s"))
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
