package foresight

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

func TestOnlyPodsWithTheSameLabelsShareThem(t *testing.T) {
	few := rapid.StringOfN(rapid.SampledFrom([]rune("a\x00\"")), 0, 3, -1)
	rapid.Check(t, func(t *rapid.T) {
		one, other := rapid.MapOfN(few, few, 0, 2).Draw(t, "one"), rapid.MapOfN(few, few, 0, 2).Draw(t, "other")
		same := len(one) == len(other)
		for name, value := range one {
			got, ok := other[name]
			same = same && ok && got == value
		}
		if got := sharingKey(one) == sharingKey(other); got != same {
			t.Fatalf("%q and %q: the same key %t", one, other, got)
		}
	})
}

func TestOnlyPodsWithTheSameTolerationsShareThem(t *testing.T) {
	seconds, none := int64(3), int64(0)
	different := [][]v1.Toleration{
		nil,
		{{}},
		{{Key: "a"}},
		{{Value: "a"}},
		{{Key: "a b"}},
		{{Key: "a", Value: "b"}},
		{{Key: "a"}, {Key: "b"}},
		{{Key: "b"}, {Key: "a"}},
		{{Operator: "Exists"}},
		{{Effect: "NoExecute"}},
		{{TolerationSeconds: &seconds}},
		{{TolerationSeconds: &none}},
		{{Key: "a", TolerationSeconds: &seconds}},
		{{Key: "a\" \""}},
	}
	keys := map[string]int{}
	for i, list := range different {
		key := sharingKey(list)
		if before, ok := keys[key]; ok {
			t.Errorf("%v and %v have the same key", different[before], list)
		}
		keys[key] = i
	}
}

func TestReplicasShareTheirLabelsAndTolerations(t *testing.T) {
	s := newSharing()
	var pods [2]pod
	for i := range pods {
		pods[i].Labels, pods[i].Tolerations = map[string]string{"app": "web"}, []v1.Toleration{{Key: "a"}}
		s.pod(&pods[i])
	}
	pods[0].Labels["seen"] = "yes"
	if pods[1].Labels["seen"] != "yes" || &pods[0].Tolerations[0] != &pods[1].Tolerations[0] {
		t.Error("they have each their own")
	}
}
