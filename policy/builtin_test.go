package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/policy"
)

func TestTheBuiltInTaintManagerBreaksWhatKeepsPodsLonger(t *testing.T) {
	with := func(m policy.Method, change func(*policy.Policy)) policy.Config {
		p := only(m, "x")
		change(&p)
		return policies(p)
	}
	asIs := func(*policy.Policy) {}
	tolerations := func(of policy.Tolerations) func(*policy.Policy) {
		return func(p *policy.Policy) { p.Tolerations = &of }
	}
	noSchedules := func(p *policy.Policy) {
		p.Match, p.Tolerations = taints(policy.Taint{Key: "x", Effects: noSchedule}), &policy.Tolerations{Absent: secs(0)}
	}
	for name, c := range map[string]struct {
		config policy.Config
		want   []string
	}{
		"nothing is set":          {policy.Config{}, nil},
		"Evict without a policy":  {policy.Config{Method: policy.Evict}, []string{"eviction.method: Evict"}},
		"Ignore without a policy": {policy.Config{Method: policy.Ignore}, nil},
		"Delete":                  {with(policy.Delete, asIs), nil},
		"Evict":                   {with(policy.Evict, asIs), []string{"policy a (method: Evict)"}},
		"Hold":                    {with(policy.Hold, asIs), []string{"policy a (method: Hold)"}},
		"Ignore":                  {with(policy.Ignore, asIs), []string{"policy a (method: Ignore)"}},
		"min and absent": {
			with(policy.Delete, tolerations(policy.Tolerations{Min: secs(1), Absent: secs(1)})),
			[]string{"policy a (tolerations.min, tolerations.absent)"},
		},
		"max and unlimited":         {with(policy.Delete, tolerations(policy.Tolerations{Max: secs(9), Unlimited: secs(9)})), nil},
		"a policy that only audits": {with(policy.Hold, func(p *policy.Policy) { p.Mode = policy.Audit }), nil},
		"NoSchedule taints":         {with(policy.Evict, noSchedules), nil},
		"a breaker and a rate": {
			policy.Config{Guards: policy.Guards{
				Breakers: []policy.Breaker{zoneBreaker()}, Rates: []policy.Rate{{Name: "r", EvictionsPerSecond: 1, Burst: 1}},
			}},
			[]string{"rate r", "breaker zones"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, compiled(t, c.config).ConflictsWithBuiltin()); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
	if got := (*policy.Set)(nil).ConflictsWithBuiltin(); got != nil {
		t.Errorf("no policies: got %v", got)
	}
}
