package dispatch

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// load is how n candidates that wait under a rate differ.
type load struct {
	name      string
	rate      policy.Rate
	candidate func(i int) Candidate
}

func loads() []load {
	rate := policy.Rate{Name: "all", EvictionsPerSecond: 1, Burst: 1}
	of := func(namespace, node, workload int) Candidate {
		return Candidate{Namespace: fmt.Sprint("ns", namespace), Node: fmt.Sprint("node", node), Workload: uint64(workload)}
	}
	return []load{
		{"alike", rate, func(i int) Candidate { return of(0, i%20, 0) }},
		{"a label each", rate, func(i int) Candidate { return of(0, i%20, i) }},
		{"a namespace each", rate, func(i int) Candidate { return of(i, i%20, 0) }},
		{"a node each", rate, func(i int) Candidate { return of(0, i, 0) }},
	}
}

// perToken returns the time that one token takes with all that comes with it, a call and a further candidate, while n
// candidates wait. If slow, the calls last for two seconds.
func perToken(of load, n int, slow bool) time.Duration {
	now := time.Unix(1000, 0)
	c := NewCore(now, CoreOptions{
		Slots: 32, SlowPlaces: 64, Rates: []policy.Rate{of.rate}, Leading: func() bool { return true }, Jitter: func() float64 { return 0 },
	})
	c.Step(now, TermBegan{})
	add := func(i int) {
		candidate := of.candidate(i)
		candidate.UID, candidate.Deadline = types.UID(fmt.Sprint(i)), now
		request := eviction.Request{Pod: &taint.Pod{UID: candidate.UID, Namespace: candidate.Namespace}}
		request.Verdict.Taint = &v1.Taint{Key: "down"}
		candidate.Ways = []Way{{Request: request, NodeLabels: map[string]string{"kubernetes.io/hostname": candidate.Node}}}
		c.Step(now, Offered{candidate})
	}
	token := func(i int) {
		now = now.Add(time.Second)
		for _, s := range c.Step(now, TimePassed{}).Starts {
			if slow {
				now = now.Add(2 * time.Second)
				c.Step(now, TimePassed{})
			}
			c.Step(now, CallEnded{UID: s.Request.Pod.UID, Outcome: eviction.Outcome{Kind: eviction.Accepted}})
			c.Step(now, Settled{s.Request.Pod.UID})
		}
		add(n + i)
	}
	for i := range n {
		add(i)
	}
	const first, tokens = 10, 200
	for i := range first { // a namespace that turns slow is arranged anew, once
		token(i)
	}
	began := time.Now()
	for i := range tokens {
		token(first + i)
	}
	return time.Since(began) / tokens
}

// within requires a token to cost about the same in both cases. On a machine without other work the factor is 1.1 to 1.8;
// beside other work what 10,000 candidates occupy is in no cache, and it is up to 2.5. A cost in proportion to the
// candidates would make it a thousand. Other work makes a round longer and never shorter, so the least of all rounds
// counts.
func within(t *testing.T, few, many func() time.Duration) {
	t.Helper()
	a, b := few(), many()
	for rounds := 1; b > 4*a && rounds < 50; rounds++ {
		a, b = min(a, few()), min(b, many())
	}
	t.Logf("%v, and %v", a, b)
	if b > 4*a {
		t.Errorf("a token takes %v instead of %v", b, a)
	}
}

func TestATokenCostsTheSameHoweverManyWaitForIt(t *testing.T) {
	for _, of := range loads() {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, slow %v", of.name, slow), func(t *testing.T) {
				within(t, func() time.Duration { return perToken(of, 10, slow) }, func() time.Duration { return perToken(of, 10000, slow) })
			})
		}
	}
}

// A token is looked for once in each group, and not for each candidate.
func TestATokenOfManyGroupsCostsAsManyLooksAsThereAreGroups(t *testing.T) {
	of := load{
		"a host's rate each",
		policy.Rate{Name: "host", EvictionsPerSecond: 1, Burst: 1, TopologyKey: "kubernetes.io/hostname"},
		func(i int) Candidate { return Candidate{Namespace: "ns", Node: fmt.Sprint("node", i%100)} },
	}
	within(t, func() time.Duration { return perToken(of, 100, false) }, func() time.Duration { return perToken(of, 1000, false) })
}
