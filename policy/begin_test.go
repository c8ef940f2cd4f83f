package policy_test

import (
	"slices"
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

func TestAPolicyBeginsAgainWhenItsMatchDecidesOtherPairs(t *testing.T) {
	drain := staying(policy.Tolerations{Absent: secs(60)})
	slower, wider, audits, executes := drain, drain, drain, drain
	slower.Tolerations = &policy.Tolerations{Absent: secs(90)}
	wider.Match.Namespaces = []string{"shop", "team-*"}
	audits.Mode = policy.Audit
	executes.Match = taints(policy.Taint{Key: "a"})
	begins := func(p policy.Policy) []policy.Begin {
		c := policies(p)
		return c.Begins(at(5))
	}
	was := begins(drain)
	if len(was) != 1 || was[0].Policy != "a" || !was[0].Began.Equal(at(5)) {
		t.Fatalf("got %+v", was)
	}
	if got := begins(slower); !slices.Equal(got, was) {
		t.Errorf("other tolerations: got %+v, want %+v", got, was)
	}
	if got := begins(wider); len(got) != 1 || got[0].Rules == was[0].Rules {
		t.Errorf("another match: got %+v after %+v", got, was)
	}
	for name, p := range map[string]policy.Policy{"audits": audits, "NoExecute only": executes} {
		if got := begins(p); len(got) > 0 {
			t.Errorf("%s: got %+v, want none", name, got)
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
