package policy_test

import (
	"math"
	"strings"
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

func TestTheLimitsOfValuesAreAllowed(t *testing.T) {
	of := func(change func(*policy.Policy)) policy.Config {
		p := policy.Policy{Method: policy.Delete}
		change(&p)
		return policies(p)
	}
	grace := func(d time.Duration) policy.Config {
		return of(func(p *policy.Policy) { p.GracePeriod = &policy.GracePeriod{Max: *after(d)} })
	}
	deleted := func(m policy.Method, d time.Duration) policy.Config {
		return of(func(p *policy.Policy) { p.Method, p.DeleteAfter = m, after(d) })
	}
	between := func(least, most int32) policy.Config {
		return of(func(p *policy.Policy) { p.Match.Priority = &policy.PriorityRange{Min: &least, Max: &most} })
	}
	prefix := func(text string) policy.Config {
		return of(func(p *policy.Policy) { p.Match = taints(policy.Taint{KeyPrefix: text}) })
	}
	owned := func(kind string) policy.Config {
		return of(func(p *policy.Policy) { p.Match.OwnerKinds = []string{kind} })
	}
	stays := func(m policy.Method) policy.Config {
		return of(func(p *policy.Policy) { p.Method, p.Tolerations = m, &policy.Tolerations{Max: after(0)} })
	}
	rate := func(perSecond float64, burst int) policy.Config {
		return policy.Config{Guards: policy.Guards{Rates: []policy.Rate{{Name: "r", EvictionsPerSecond: perSecond, Burst: burst}}}}
	}
	reset := func(d time.Duration) policy.Config {
		b := zoneBreaker()
		b.ResetAfter = after(d)
		return policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{b}}}
	}
	const perSecond, burst, owner = "guards.rates[0].evictionsPerSecond", "guards.rates[0].burst", "policies[0].match.ownerKinds[0]"
	for name, c := range map[string]struct {
		config  policy.Config
		refused string // the path of the only problem; empty if there is none
	}{
		"a grace period of a second":           {grace(time.Second), ""},
		"less than a second":                   {grace(0), "policies[0].gracePeriod.max"},
		"no whole seconds":                     {grace(1500 * time.Millisecond), "policies[0].gracePeriod.max"},
		"deleteAfter of a second":              {deleted(policy.Evict, time.Second), ""},
		"of less":                              {deleted(policy.Evict, time.Second-1), "policies[0].deleteAfter"},
		"with Delete":                          {deleted(policy.Delete, time.Hour), "policies[0].deleteAfter"},
		"with Hold":                            {deleted(policy.Hold, time.Hour), "policies[0].deleteAfter"},
		"tolerations with Evict":               {stays(policy.Evict), ""},
		"with Hold, which evicts no pod":       {stays(policy.Hold), "policies[0].tolerations"},
		"with Ignore":                          {stays(policy.Ignore), "policies[0].tolerations"},
		"one priority":                         {between(7, 7), ""},
		"no priority":                          {between(8, 7), "policies[0].match.priority.min"},
		"a prefix of 253 letters":              {prefix(strings.Repeat("a", 253)), ""},
		"a longer one":                         {prefix(strings.Repeat("a", 254)), "policies[0].match.taints[0].keyPrefix"},
		"one that begins no key":               {prefix("/a"), "policies[0].match.taints[0].keyPrefix"},
		"Deployment":                           {owned("Deployment"), owner},
		"with its group":                       {owned("Deployment.apps"), owner},
		"with the group of another API":        {owned("Deployment.example.com"), ""},
		"the slowest rate, of the least burst": {rate(0.001, 1), ""},
		"a slower one":                         {rate(0.0009, 1), perSecond},
		"the fastest rate, of the most burst":  {rate(1e6, 1e6), ""},
		"a faster one":                         {rate(1e6+1, 1), perSecond},
		"a rate that is no number":             {rate(math.NaN(), 1), perSecond},
		"no burst":                             {rate(1, 0), burst},
		"too large a burst":                    {rate(1, 1e6+1), burst},
		"a reset soon":                         {reset(1), ""},
		"a reset at once":                      {reset(0), "guards.breakers[0].resetAfter"},
	} {
		problems := policy.Validate(c.config.Policies, c.config.Guards)
		if len(problems) > 1 || len(problems) == 1 != (c.refused != "") || len(problems) == 1 && problems[0].Field != c.refused {
			t.Errorf("%s: got %v, want %q", name, problems, c.refused)
		}
	}
}
