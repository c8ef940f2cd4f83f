package suggest

import "testing"

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
