package terminal

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Colours say nothing that the words do not say, and columns stand below each other with them, too.
func TestWithoutItsColoursATableIsTheSame(t *testing.T) {
	list := NewTable("POD", "WHEN", "")
	list.Add(Text("web-0"), Painted("now", Bad), Painted("loses all", Warned))
	list.Add(Text("größer"), Painted("", Bad), Text(""))
	var plainly, coloured Builder
	list.Print(&plainly, false)
	list.Print(&coloured, true)
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
	list.Print(&got, true)
	if want := "a     web-0\nshop  b\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}
