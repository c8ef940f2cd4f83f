package flags

import "testing"

func TestTheNamesNearestToWhatWasTypedAreNamed(t *testing.T) {
	for _, c := range []struct {
		typed string
		names []string
		want  string
	}{
		{"node-1", nil, ""},
		{"node-1", []string{"control-plane", "xyz"}, ""},
		{"node-1", []string{"xyz", "node-01"}, " (did you mean node-01?)"},
		{"node-1", []string{"node-2", "node-11"}, " (did you mean node-11 or node-2?)"},
		{"node-1", []string{"node-3", "node-2", "node-0", "node-4"}, " (did you mean node-0, node-2 or node-3?)"},
		{"ip-10-0-0-1", []string{"ip-10-0-0-1.eu-west-1.compute.internal"}, " (did you mean ip-10-0-0-1.eu-west-1.compute.internal?)"},
	} {
		if got := Nearest(c.typed, c.names); got != c.want {
			t.Errorf("%s of %v: got %q, want %q", c.typed, c.names, got, c.want)
		}
	}
}

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
		if got := append(similarTo(typed, names), "")[0]; got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
