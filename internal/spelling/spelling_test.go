package spelling_test

import (
	"testing"

	"github.com/taint-manager/taint-manager/internal/spelling"
)

func TestLettersAreAddedRemovedReplacedOrSwapped(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"pod", "pod", 0},
		{"pod", "podd", 1},
		{"nod", "node", 1},
		{"mode", "node", 1},
		{"ndoe", "node", 1},
		{"deploymnet", "deployment", 1},
		{"job", "pod", 2},
		{"", "pod", 3},
		{"pod", "", 3},
	} {
		if got := spelling.Edits(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestLongNamesMayHaveMoreMistakes(t *testing.T) {
	for _, c := range []struct {
		name, right string
		want        bool
	}{
		{"Podd", "pod", true},
		{"job", "pod", false},
		{"TOLERRATIONS", "tolerations", true},
		{"toleration", "tolerations", true},
		{"toleranc", "tolerations", false},
		{"PodDisruptonBudet", "PodDisruptionBudget", true},
		{"", "pod", false},
	} {
		if got := spelling.Near(c.name, c.right); got != c.want {
			t.Errorf("%q and %q: got %t", c.name, c.right, got)
		}
	}
}
