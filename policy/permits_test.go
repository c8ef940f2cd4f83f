package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// TestPermits lists the requests that are permitted at a second, each with the second since which it is, and the second
// of the next change.
func TestPermits(t *testing.T) {
	evict, del, blocked := only(policy.Evict, "a"), only(policy.Delete, "a"), hour(taints(policy.Taint{Key: "a"}))
	other := only(policy.Delete, "b")
	one, two := nodeWith(on(10, "a", "")), nodeWith(on(10, "a", ""), on(5000, "b", ""))
	rates := []policy.Rate{rateBy("")}
	refused := func(second int64) policy.Calls { return policy.Calls{RefusedSince: at(second)} }
	for _, c := range []struct {
		name     string
		policies []policy.Policy
		rates    []policy.Rate
		node     *taint.Node
		calls    policy.Calls
		now      int64
		want     []string
		next     int64
	}{
		{"before the deadline", []policy.Policy{evict}, nil, one, policy.Calls{}, 9, nil, 10},
		{"at the deadline", []policy.Policy{evict}, nil, one, policy.Calls{}, 10, []string{"Evict at 10"}, never},
		{"Delete", []policy.Policy{del}, nil, one, policy.Calls{}, 10, []string{"Delete at 10"}, never},
		{"a request has to wait", []policy.Policy{evict}, nil, one, policy.Calls{RequestNotBefore: at(30)}, 29, nil, 30},
		{"its wait is over", []policy.Policy{evict}, nil, one, policy.Calls{RequestNotBefore: at(30)}, 30, []string{"Evict at 30"}, never},
		{"a deletion has to wait", []policy.Policy{del}, nil, one, policy.Calls{DeleteNotBefore: at(30)}, 29, nil, 30},
		{"deleteAfter, and no refusal", []policy.Policy{blocked}, nil, one, policy.Calls{}, 9999, []string{"Evict at 10"}, never},
		{"deleteAfter has not passed", []policy.Policy{blocked}, nil, one, refused(15), 3609, []string{"Evict at 10"}, 3610},
		{"deleteAfter has passed", []policy.Policy{blocked}, nil, one, refused(15), 3610, []string{"Delete at 3610"}, never},
		{"refused for less than a minute", []policy.Policy{blocked}, nil, one, refused(3600), 3659, []string{"Evict at 10"}, 3660},
		{"the wait of a request does not delay the deletion", []policy.Policy{blocked}, nil, one, policy.Calls{RefusedSince: at(15), RequestNotBefore: at(9000)}, 3610, []string{"Delete at 3610"}, never},
		{"a request has to wait, and then the deletion", []policy.Policy{blocked}, nil, one, policy.Calls{RefusedSince: at(15), RequestNotBefore: at(30)}, 20, nil, 30},
		{"a request has to wait for longer than the deletion", []policy.Policy{blocked}, nil, one, policy.Calls{RefusedSince: at(15), RequestNotBefore: at(4000)}, 20, nil, 3610},
		{"a deletion because of another taint needs no refusal", []policy.Policy{blocked, other}, nil, two, policy.Calls{}, 5000, []string{"Delete at 5000"}, never},
		{"it comes before a refusal counts", []policy.Policy{blocked, other}, nil, two, refused(4990), 5000, []string{"Delete at 5000"}, never},
		{"it comes after deleteAfter", []policy.Policy{blocked, other}, nil, two, refused(15), 5000, []string{"Delete at 3610"}, never},
		{"without rates one permit is enough", []policy.Policy{del, other}, nil, two, policy.Calls{}, 5000, []string{"Delete at 10"}, never},
		{"with rates each taint has its own", []policy.Policy{del, other}, rates, two, policy.Calls{}, 5000, []string{"Delete at 10", "Delete at 5000"}, never},
		{"with rates the next change is that of any taint", []policy.Policy{blocked, other}, rates, two, refused(4990), 20, []string{"Evict at 10"}, 5000},
		{"with rates and one taint", []policy.Policy{blocked}, rates, one, refused(15), 20, []string{"Evict at 10"}, 3610},
	} {
		config := policies(slices.Clone(c.policies)...)
		config.Guards.Rates = c.rates
		permits, next := policy.Judge{Set: compiled(t, config).Set}.Permits(aPod(), c.node, c.calls, at(c.now))
		var got []string
		for _, p := range permits {
			got = append(got, fmt.Sprintf("%s at %d", p.Method, p.At.Unix()-zero.Unix()))
		}
		if want := at(c.next); !slices.Equal(got, c.want) || c.next == never != next.IsZero() || c.next != never && !next.Equal(want) {
			t.Errorf("%s: got %v, next %v; want %v, next %v", c.name, got, next, c.want, want)
		}
	}
}

// A call in flight goes on only if the present permit is for the same request, which the rates have counted.
func TestAPermitCoversTheSameRequestOnly(t *testing.T) {
	permit := policy.Permit{Method: policy.Delete, Action: policy.Action{
		Policy: "drain", GracePeriod: 8 * time.Second, Verdict: taint.Verdict{Taint: &v1.Taint{Key: "a"}},
	}}
	pod, brief := aPod(), aPod()
	brief.GracePeriodSeconds = new(int64(5))
	same := policy.Sent{Method: policy.Delete, Policy: "drain", GracePeriodSeconds: new(int64(8)), TaintKey: "a"}
	but := func(change func(*policy.Sent)) policy.Sent {
		s := same
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		pod  *taint.Pod
		sent policy.Sent
		want bool
	}{
		"the same":                        {pod, same, true},
		"by the evictor's own method":     {pod, but(func(s *policy.Sent) { s.Method = "" }), true},
		"by another method":               {pod, but(func(s *policy.Sent) { s.Method = policy.Evict }), false},
		"by another policy":               {pod, but(func(s *policy.Sent) { s.Policy = "" }), false},
		"because of another taint":        {pod, but(func(s *policy.Sent) { s.TaintKey = "b" }), false},
		"with another grace period":       {pod, but(func(s *policy.Sent) { s.GracePeriodSeconds = new(int64(7)) }), false},
		"with the pod's own grace period": {pod, but(func(s *policy.Sent) { s.GracePeriodSeconds = nil }), false},
		"which is shorter":                {brief, but(func(s *policy.Sent) { s.GracePeriodSeconds = nil }), true},
	} {
		if got := permit.Covers(c.pod, c.sent); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestAPermitIsDescribedWithWhatLimitsIt(t *testing.T) {
	of := taint.Verdict{Taint: &v1.Taint{Key: "a"}}
	for want, p := range map[string]policy.Permit{
		"Evict, because of the taint a":                                      {Method: policy.Evict, Action: policy.Action{Verdict: of}},
		"Delete by policy drain, because of the taint a":                     {Method: policy.Delete, Action: policy.Action{Verdict: of, Policy: "drain"}},
		"Evict, with a grace period of at most 1m0s, because of the taint a": {Method: policy.Evict, Action: policy.Action{Verdict: of, GracePeriod: time.Minute}},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
