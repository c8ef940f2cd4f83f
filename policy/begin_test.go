package policy_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// A node carries a NoSchedule taint since second 10; pods tolerate it for a minute, by a policy that began at second 100.
func TestAnExposureToANoScheduleTaintBeginsNoEarlierThanItsPolicy(t *testing.T) {
	drain := policy.Policy{
		Name: "drain", Method: policy.Delete, Tolerations: &policy.Tolerations{Absent: secs(60)},
		Match: taints(policy.Taint{Key: "a", Effects: []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule}}),
	}
	canary := drain
	canary.Name, canary.Match.Namespaces = "canary", []string{"canary"}
	noSchedule := draining(10, "a", "")
	late := aPod()
	late.Bound = at(200)
	for name, c := range map[string]struct {
		pod  *taint.Pod
		node *taint.Node
		want int64
	}{
		"a NoSchedule taint":                       {aPod(), noSchedule, 160},
		"a pod bound later":                        {late, noSchedule, 260},
		"a NoExecute taint":                        {aPod(), nodeWith(on(10, "a", "")), 70},
		"a NoExecute taint, and a pod bound later": {late, nodeWith(on(10, "a", "")), 260},
	} {
		facts := &policy.Facts{Began: map[string]time.Time{"canary": at(5), "drain": at(100)}}
		v := compiled(t, policies(canary, drain)).Decide(c.pod, c.node, facts)
		if got := seconds(v.Delete); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// A pod that was released counts deleteAfter from its release, and no other pod does.
func TestDeleteAfterCountsFromTheReleaseOfThePod(t *testing.T) {
	set := compiled(t, policies(hour(taints(policy.Taint{Key: "a"}))))
	for released, want := range map[int64]int64{0: 3610, 5: 3610, 100: 3700} {
		j := policy.Judge{Set: set.Set, Facts: &policy.Facts{}, Released: at(released)}
		v := j.Decide(aPod(), nodeWith(on(10, "a", "")))
		if got := seconds(v.Delete); got != want {
			t.Errorf("released at %d: got %d, want %d", released, got, want)
		}
	}
}
