package suggest

import "testing"

func TestWhatWasPerhapsMeant(t *testing.T) {
	names := []string{"dry-run", "kubeconfig", "kube-api-qps", "kube-api-burst", "eviction-method", "shards", "v"}
	for typed, want := range map[string]string{
		"dryrun":         "dry-run",
		"eviction-metod": "eviction-method",
		"eviction":       "eviction-method",
		"kube-api-qsp":   "kube-api-qps",
		"shard":          "shards",
		"feature-gates":  "",
		"x":              "",
		"":               "",
	} {
		if got := append(Similar(typed, names), "")[0]; got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
