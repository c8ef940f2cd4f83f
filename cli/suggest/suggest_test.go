package suggest

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWhatWasPerhapsMeant(t *testing.T) {
	names := []string{"dry-run", "kubeconfig", "kube-api-qps", "kube-api-burst", "eviction-method", "shards", "v"}
	for typed, want := range map[string]string{
		"dryrun":         " (did you mean --dry-run?)",
		"eviction-metod": " (did you mean --eviction-method?)",
		"eviction":       " (did you mean --eviction-method?)",
		"kube-api-qsp":   " (did you mean --kube-api-qps?)",
		"shard":          " (did you mean --shards?)",
		"feature-gates":  "",
		"x":              "",
		"":               "",
	} {
		if got := DidYouMean(typed, "--", names); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}

// slowDistance is the definition of distance.
func slowDistance(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return slowDistance(a[1:], b[1:])
	}
	return 1 + min(slowDistance(a[1:], b), slowDistance(a, b[1:]), slowDistance(a[1:], b[1:]))
}

func TestDistanceIsThatOfItsDefinition(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("ab-")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := distance(a, b), slowDistance(a, b); got != want {
			t.Fatalf("distance(%q, %q): got %d, want %d", a, b, got, want)
		}
	})
}
