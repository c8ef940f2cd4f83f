package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"

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
		"a rate of all nodes":       {policy.Config{Guards: policy.Guards{Rates: []policy.Rate{rateBy("")}}}, policy.Needs{}},
		"a rate of groups of nodes": {policy.Config{Guards: policy.Guards{Rates: []policy.Rate{rateBy("zone")}}}, policy.Needs{NodeLabels: true}},
		"values":                    {policies(policy.Policy{Method: policy.Hold, Match: taints(policy.Taint{Key: "b", Values: []string{"y", "x"}}, policy.Taint{Key: "a", Values: []string{"x"}})}), policy.Needs{Values: []string{"x", "y"}}},
		"one of two swapped taints": {policies(only(policy.Hold, v1.TaintNodeNotReady)), policy.Needs{Swapped: true}},
		"both of them":              {policies(policy.Policy{Method: policy.Hold, Match: taints(policy.Taint{Key: v1.TaintNodeNotReady}, policy.Taint{Key: v1.TaintNodeUnreachable})}), policy.Needs{}},
		"breakers":                  {policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{zoneBreaker()}}}, policy.Needs{NodeLabels: true, Breakers: true}},
	} {
		if diff := cmp.Diff(c.want, compiled(t, c.config).Needs(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func rateBy(topologyKey string) policy.Rate {
	return policy.Rate{Name: "r", TopologyKey: topologyKey, EvictionsPerSecond: 1, Burst: 1}
}

// An ended hold that could not be compared with a node would not count, and its pods would be deleted too early.
func TestAHoldOfAGroupNeedsTheLabelsOfNodes(t *testing.T) {
	for name, c := range map[string]struct {
		hold policy.HoldRecord
		want policy.Needs
	}{
		"a pause":          {policy.HoldRecord{}, policy.Needs{}},
		"taints":           {policy.HoldRecord{Taints: []policy.KeyPattern{{Key: "a"}}}, policy.Needs{}},
		"a group of nodes": {policy.HoldRecord{TopologyKey: "zone", Group: "a"}, policy.Needs{NodeLabels: true}},
	} {
		if diff := cmp.Diff(c.want, policy.Judge{Facts: recorded(c.hold)}.Needs(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// States that no policy tells apart are one state for a pod that tolerates both alike.
func TestPoliciesTellStatesOfATaintApartByWhatTheyName(t *testing.T) {
	values, swapped := policy.Needs{Values: []string{"x"}}, policy.Needs{Swapped: true}
	of := func(key, value string) *v1.Taint { return &v1.Taint{Key: key, Value: value} }
	for name, c := range map[string]struct {
		needs policy.Needs
		a, b  *v1.Taint
		want  bool
	}{
		"a value that a policy names":     {values, of("a", "x"), of("a", "y"), true},
		"in the other order":              {values, of("a", "y"), of("a", "x"), true},
		"values that no policy names":     {values, of("a", "y"), of("a", "z"), false},
		"twice the same value":            {values, of("a", "x"), of("a", "x"), false},
		"the other of two swapped keys":   {swapped, of("a", ""), of("b", ""), true},
		"the same key":                    {swapped, of("a", ""), of("a", "y"), false},
		"keys that no policy tells apart": {values, of("a", ""), of("b", ""), false},
	} {
		if got := c.needs.Distinguish(c.a, c.b); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestATaintIsATriggerByPoliciesThatEnforceOrAudit(t *testing.T) {
	needs := policy.Needs{Triggers: []string{"a"}, Audited: []string{"b"}}
	for key, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if got := needs.TriggeredBy(key); got != want {
			t.Errorf("%s: got %v", key, got)
		}
	}
}

func TestTwoNeedsTogether(t *testing.T) {
	a := policy.Needs{Triggers: []string{"a", "c"}, Values: []string{"x"}, Swapped: true, PodOwners: true, Breakers: true, NodeLabels: true}
	b := policy.Needs{Triggers: []string{"b", "c"}, Values: []string{"y"}, Audited: []string{"d"}, NamespaceLabels: true, GracePeriods: true}
	want := policy.Needs{
		Triggers: []string{"a", "b", "c"}, Audited: []string{"d"}, Values: []string{"x", "y"}, Swapped: true, PodOwners: true, Breakers: true, NodeLabels: true,
		NamespaceLabels: true, GracePeriods: true,
	}
	for _, got := range []policy.Needs{a.Or(b), b.Or(a)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
