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

// On a machine that does nothing else the factor is 1.1 to 1.7. Beside other work, what 10,000 candidates occupy is in no
// cache. A cost in proportion to the candidates would make the factor a thousand.
func TestATokenCostsTheSameHoweverManyWaitForIt(t *testing.T) {
	for _, of := range loads() {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, slow %v", of.name, slow), func(t *testing.T) {
				few, many := time.Hour, time.Hour
				for range 5 {
					few, many = min(few, perToken(of, 10, slow)), min(many, perToken(of, 10000, slow))
				}
				t.Logf("10 wait: %v, 10,000 wait: %v", few, many)
				if many > 4*few {
					t.Errorf("with 10,000 that wait a token takes %v, with 10 %v", many, few)
				}
			})
		}
	}
}

// Each host's rate is looked at once for a token, and not each candidate.
func TestATokenOfManyGroupsCostsAsManyLooksAsThereAreGroups(t *testing.T) {
	of := load{
		"a host's rate each",
		policy.Rate{Name: "host", EvictionsPerSecond: 1, Burst: 1, TopologyKey: "kubernetes.io/hostname"},
		func(i int) Candidate { return Candidate{Namespace: "ns", Node: fmt.Sprint("node", i%100)} },
	}
	one, ten := time.Hour, time.Hour
	for range 2 {
		one, ten = min(one, perToken(of, 100, false)), min(ten, perToken(of, 1000, false))
	}
	t.Logf("a hundred groups with a candidate each: %v, with ten each: %v", one, ten)
	if ten > 2*one {
		t.Errorf("with ten candidates for each of 100 groups a token takes %v, with one %v", ten, one)
	}
}
