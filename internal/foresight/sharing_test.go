package foresight

import (
	"maps"
	"testing"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

func TestOnlyPodsWithTheSameLabelsShareThem(t *testing.T) {
	few := rapid.StringOfN(rapid.SampledFrom([]rune("a\x00\"")), 0, 3, -1)
	rapid.Check(t, func(t *rapid.T) {
		one, other := rapid.MapOfN(few, few, 0, 2).Draw(t, "one"), rapid.MapOfN(few, few, 0, 2).Draw(t, "other")
		s := sharing{}
		if first, second := share(s, one), share(s, other); !maps.Equal(first, one) || !maps.Equal(second, other) {
			t.Fatalf("%q and %q: got %q and %q", one, other, first, second)
		}
		if same := maps.Equal(one, other); (len(s) == 1) != same {
			t.Fatalf("%q and %q: %d are stored", one, other, len(s))
		}
	})
}

func TestReplicasShareTheirLabelsAndTolerations(t *testing.T) {
	s := sharing{}
	var pods [2]pod
	for i := range pods {
		pods[i].Labels, pods[i].Tolerations = map[string]string{"app": "web"}, []v1.Toleration{{Key: "a"}}
		pods[i].share(s)
	}
	pods[0].Labels["seen"] = "yes"
	if pods[1].Labels["seen"] != "yes" || &pods[0].Tolerations[0] != &pods[1].Tolerations[0] {
		t.Error("they have each their own")
	}
}
