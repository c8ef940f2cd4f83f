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
	of := func(namespace, node int) Candidate {
		return Candidate{Pod: &taint.Pod{Namespace: fmt.Sprint("ns", namespace), Node: fmt.Sprint("node", node)}}
	}
	return []load{
		{"alike", rate, func(i int) Candidate { return of(0, i%20) }},
		{"a namespace each", rate, func(i int) Candidate { return of(i, i%20) }},
		{"a node each", rate, func(i int) Candidate { return of(0, i) }},
	}
}

// loaded is a Core with candidates that wait.
type loaded struct {
	*Core
	of  load
	now time.Time
}

// newLoaded returns a Core with n candidates, and no token yet.
func newLoaded(of load, n int) *loaded {
	w := &loaded{of: of, now: time.Unix(1000, 0)}
	w.Core = NewCore(w.now, CoreOptions{
		Workers: 32, Rates: []policy.Rate{of.rate}, Leading: func() bool { return true }, Jitter: func() float64 { return 0 },
	})
	w.Step(w.now, TermBegan{})
	for i := range n {
		w.add(i)
	}
	return w
}

func (l *loaded) add(i int) {
	candidate := l.of.candidate(i)
	candidate.UID, candidate.Deadline = types.UID(fmt.Sprint(i)), l.now
	request := eviction.Request{Pod: candidate.Pod}
	request.Verdict.Taint = &v1.Taint{Key: "down"}
	candidate.Ways = []eviction.Request{request}
	candidate.NodeLabels = map[string]string{"kubernetes.io/hostname": candidate.Node}
	l.Step(l.now, Offered{candidate})
}

// token lets a second pass, and the calls end that start then. If slow, they last for two seconds.
func (l *loaded) token(slow bool) {
	l.now = l.now.Add(time.Second)
	for _, s := range l.Step(l.now, TimePassed{}).Starts {
		if slow {
			l.now = l.now.Add(2 * time.Second)
			l.Step(l.now, TimePassed{})
		}
		l.Step(l.now, CallEnded{UID: s.Pod.UID, Outcome: eviction.Outcome{Kind: eviction.Accepted}})
		l.Step(l.now, Settled{s.Pod.UID})
	}
}

// perToken returns the time that one token takes with all that comes with it, a call and a further candidate, while n
// candidates wait.
func perToken(of load, n int, slow bool) time.Duration {
	w := newLoaded(of, n)
	for range 10 { // a namespace that turns slow is arranged anew, once
		w.token(slow)
	}
	began := time.Now()
	const tokens = 200
	for i := range tokens {
		w.token(slow)
		w.add(n + i)
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
		func(i int) Candidate {
			return Candidate{Pod: &taint.Pod{Namespace: "ns", Node: fmt.Sprint("node", i%100)}}
		},
	}
	within(t, func() time.Duration { return perToken(of, 100, false) }, func() time.Duration { return perToken(of, 1000, false) })
}

// Groups that have no token are not looked at again for each offer.
func TestAnOfferCostsTheSameHoweverManyGroupsWait(t *testing.T) {
	perOffer := func(groups int) time.Duration {
		of := load{
			rate: policy.Rate{Name: "host", EvictionsPerSecond: 1, Burst: 1, TopologyKey: "kubernetes.io/hostname"},
			candidate: func(i int) Candidate {
				return Candidate{Pod: &taint.Pod{Namespace: "ns", Node: fmt.Sprint("node", i%groups)}}
			},
		}
		w := newLoaded(of, 3*groups)
		began := time.Now()
		for i := range 500 {
			w.add(3*groups + i)
		}
		return time.Since(began) / 500
	}
	within(t, func() time.Duration { return perOffer(10) }, func() time.Duration { return perOffer(3000) })
}
