package policy_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taint-manager/taint-manager/policy"
)

func after(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// A file cannot contain this effect, but a program that embeds the library can.
func TestPreferNoScheduleIsRefused(t *testing.T) {
	p := policy.Policy{Name: "a", Method: policy.Hold, Match: policy.Match{
		Taints: []policy.Taint{{Key: "a", Effects: []v1.TaintEffect{v1.TaintEffectPreferNoSchedule}}},
	}}
	problems := policy.Validate([]policy.Policy{p}, policy.Guards{})
	if len(problems) != 1 || problems[0].Field != "policies[0].match.taints[0].effects[0]" || problems[0].Type != field.ErrorTypeNotSupported {
		t.Errorf("got %+v", problems)
	}
}

// A configuration file cannot contain these words, but a program that embeds the library can.
func TestUnknownWordsAreRefused(t *testing.T) {
	breaker := policy.Breaker{Name: "a", Taints: []policy.TaintKey{{Key: "a"}}}
	never, mute := breaker, breaker
	never.Reset, mute.Taints = "Never", nil
	for path, c := range map[string]policy.Config{
		"policies[0].method":                                         {Policies: []policy.Policy{{Name: "a", Method: "Drain"}}},
		"policies[0].mode":                                           {Policies: []policy.Policy{{Name: "a", Method: policy.Hold, Mode: "Warn"}}},
		"policies[0].match.taints[0].effects[0]":                     {Policies: []policy.Policy{{Name: "a", Method: policy.Hold, Match: taints(policy.Taint{Key: "a", Effects: []v1.TaintEffect{"NoRun"}})}}},
		"policies[0].match.podSelector.matchExpressions[0].operator": {Policies: []policy.Policy{{Name: "a", Method: policy.Hold, Match: policy.Match{PodSelector: expression("a", "Near")}}}},
		"guards.breakers[0].reset":                                   {Guards: policy.Guards{Breakers: []policy.Breaker{never}}},
		"guards.breakers[0].taints":                                  {Guards: policy.Guards{Breakers: []policy.Breaker{mute}}},
	} {
		set, problems := policy.Compile(c)
		if set != nil || len(problems) != 1 || problems[0].Field != path {
			t.Errorf("%s: got %+v", path, problems)
		}
	}
}

func TestAPolicyOnNoScheduleNeedsToSayHowLongPodsStay(t *testing.T) {
	drain := policy.Match{Taints: []policy.Taint{{Key: "a", Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule}}}}
	zero := &policy.Tolerations{Absent: after(0)}
	for name, c := range map[string]struct {
		policy  policy.Policy
		refused bool
	}{
		"it evicts":                      {policy.Policy{Method: policy.Evict, Match: drain}, true},
		"it deletes":                     {policy.Policy{Method: policy.Delete, Match: drain}, true},
		"it audits":                      {policy.Policy{Method: policy.Delete, Match: drain, Mode: policy.Audit}, true},
		"other tolerations do not count": {policy.Policy{Method: policy.Delete, Match: drain, Tolerations: &policy.Tolerations{Max: after(0)}}, true},
		"zero is said":                   {policy.Policy{Method: policy.Delete, Match: drain, Tolerations: zero}, false},
		"it makes no call":               {policy.Policy{Method: policy.Hold, Match: drain}, false},
		"it is about NoExecute":          {policy.Policy{Method: policy.Delete, Match: policy.Match{Taints: []policy.Taint{{Key: "a"}}}}, false},
	} {
		c.policy.Name = "a"
		if got := policy.Validate([]policy.Policy{c.policy}, policy.Guards{}); len(got) > 0 != c.refused {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
