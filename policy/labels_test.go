package policy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"
)

// The twin is the selector of Kubernetes.
func TestASelectorSelectsWhatThatOfKubernetesDoes(t *testing.T) {
	keys, values := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"", "1", "2"})
	rapid.Check(t, func(t *rapid.T) {
		s := &metav1.LabelSelector{MatchLabels: rapid.MapOfN(keys, values, 0, 1).Draw(t, "labels")}
		for range rapid.IntRange(0, 2).Draw(t, "expressions") {
			e := metav1.LabelSelectorRequirement{Key: keys.Draw(t, "key"), Operator: rapid.SampledFrom([]metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator")}
			if e.Operator == "In" || e.Operator == "NotIn" {
				e.Values = rapid.SliceOfN(values, 1, 2).Draw(t, "values")
			}
			s.MatchExpressions = append(s.MatchExpressions, e)
		}
		twin, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			t.Fatal(err)
		}
		set := rapid.MapOfN(keys, values, 0, 3).Draw(t, "set")
		if got, want := newSelector(s).selects(set), twin.Matches(labels.Set(set)); got != want {
			t.Fatalf("got %t, want %t", got, want)
		}
	})
}
