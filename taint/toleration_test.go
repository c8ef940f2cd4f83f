package taint_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/taint"
)

func TestALaterTolerationThatBearsATaintLongerIsFound(t *testing.T) {
	gpu := noExecute("gpu", "a")
	everything := v1.Toleration{Operator: v1.TolerationOpExists}
	for _, c := range []struct {
		name        string
		tolerations []v1.Toleration
		want        int // the index in the list; -1 means none
	}{
		{"no toleration", nil, -1},
		{"one", []v1.Toleration{exists("gpu", seconds(5))}, -1},
		{"a longer one", []v1.Toleration{exists("gpu", seconds(5)), equal("gpu", "a", seconds(6))}, 1},
		{"an equal one", []v1.Toleration{exists("gpu", seconds(5)), equal("gpu", "a", seconds(5))}, -1},
		{"a shorter one", []v1.Toleration{exists("gpu", seconds(5)), equal("gpu", "a", seconds(4))}, -1},
		{"one without a limit", []v1.Toleration{exists("gpu", seconds(5)), everything}, 1},
		{"the longest of several", []v1.Toleration{exists("gpu", seconds(5)), equal("gpu", "a", seconds(6)), everything, exists("gpu", seconds(9))}, 2},
		{"the first has no limit", []v1.Toleration{everything, exists("gpu", seconds(5)), everything}, -1},
		{"a longer one that does not match", []v1.Toleration{exists("gpu", seconds(5)), equal("gpu", "b", nil)}, -1},
		{"none and less than none are both at once", []v1.Toleration{exists("gpu", seconds(-5)), exists("gpu", seconds(0))}, -1},
		{"the first matches, though others come before it", []v1.Toleration{exists("disk", nil), exists("gpu", seconds(5)), everything}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pod(c.tolerations...)
			got, want := taint.Longer(p, &gpu, taint.Rules{}), (*v1.Toleration)(nil)
			if c.want >= 0 {
				want = &p.Tolerations[c.want]
			}
			if got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// Alone, the longer toleration would make the pod stay longer.
func TestTheLongerTolerationMakesThePodStayLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pod(rapid.SliceOfN(rapid.Custom(drawToleration), 0, 5).Draw(t, "tolerations")...)
		n := node(on(0, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"), rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "value")))
		now := taint.Decide(p, n, taint.Rules{})
		counts := taint.Matching(p, &n.Taints[0][0].Taint, taint.Rules{})
		if now.Evict && now.Toleration != counts {
			t.Fatalf("the verdict names %v, but %v counts", now.Toleration, counts)
		}
		longest := now
		for i := range p.Tolerations {
			v := taint.Decide(pod(p.Tolerations[i]), n, taint.Rules{})
			if longest.Evict && (!v.Evict || v.At.After(longest.At)) {
				longest = v
			}
		}
		longer := taint.Longer(p, &n.Taints[0][0].Taint, taint.Rules{})
		if counts == nil && longer != nil || (longer != nil) != (longest != now) {
			t.Fatalf("now: %v; the longest: %v; found %v", now, longest, longer)
		}
		if longer != nil {
			if v := taint.Decide(pod(*longer), n, taint.Rules{}); v.Evict != longest.Evict || !v.At.Equal(longest.At) {
				t.Fatalf("%v gives %v, the longest is %v", longer, v, longest)
			}
		}
	})
}
