package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/taint-manager/taint-manager/policy"
)

func TestWhatPoliciesNeedToKnow(t *testing.T) {
	drain := staying(policy.Tolerations{Absent: secs(1)})
	audits := staying(policy.Tolerations{Absent: secs(1)})
	audits.Mode, audits.Match = policy.Audit, taints(policy.Taint{Key: "a", Effects: noSchedule}, policy.Taint{Key: "b", Effects: noSchedule})
	for name, c := range map[string]struct {
		config policy.Config
		want   policy.Needs
	}{
		"none":                      {policy.Config{}, policy.Needs{}},
		"a taint alone":             {policies(only(policy.Hold, "a")), policy.Needs{}},
		"a trigger":                 {policies(drain), policy.Needs{Triggers: []string{"a"}, PodOwners: true}},
		"a trigger that is audited": {policies(audits, drain), policy.Needs{Triggers: []string{"a"}, Audited: []string{"b"}, PodOwners: true}},
		"unlimited":                 {policies(policy.Policy{Method: policy.Delete, Tolerations: &policy.Tolerations{Unlimited: secs(1)}}), policy.Needs{PodOwners: true}},
		"owners":                    {policies(policy.Policy{Method: policy.Hold, Match: policy.Match{OwnerKinds: []string{"Job"}}}), policy.Needs{PodOwners: true}},
		"nodes":                     {policies(policy.Policy{Method: policy.Hold, Match: policy.Match{NodeSelector: labelled("a", "b")}}), policy.Needs{NodeLabels: true}},
		"namespaces":                {policies(policy.Policy{Method: policy.Hold, Match: policy.Match{NamespaceSelector: labelled("a", "b")}}), policy.Needs{NamespaceLabels: true}},
		"breakers":                  {policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{zoneBreaker()}}}, policy.Needs{NodeLabels: true, Breakers: true}},
	} {
		if diff := cmp.Diff(c.want, compiled(t, c.config).Needs(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
