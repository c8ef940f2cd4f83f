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

// load is how n candidates that wait differ, under a rate of one a second, or for the only place.
type load struct {
	name      string
	rate      policy.Rate
	candidate func(i int) Candidate
}

func loads() []load {
	rate, none := policy.Rate{Name: "all", EvictionsPerSecond: 1, Burst: 1}, policy.Rate{}
	of := func(namespace, node int) Candidate {
		return Candidate{Pod: &taint.Pod{Namespace: fmt.Sprint("ns", namespace), Node: fmt.Sprint("node", node)}}
	}
	return []load{
		{"alike", rate, func(i int) Candidate { return of(0, i%20) }},
		{"a namespace each", rate, func(i int) Candidate { return of(i, i%20) }},
		{"a node each", rate, func(i int) Candidate { return of(0, i) }},
		{"alike, without a rate", none, func(i int) Candidate { return of(0, i%20) }},
		{"a namespace each, without a rate", none, func(i int) Candidate { return of(i, i%20) }},
	}
}

// loaded is a Core with candidates that wait.
type loaded struct {
	*Core
	of      load
	now     time.Time
	started []eviction.Request // whose calls have not ended
}

// newLoaded returns a Core with n candidates, and no token yet.
func newLoaded(of load, n int) *loaded {
	w := &loaded{of: of, now: time.Unix(1000, 0)}
	workers, rates := 32, []policy.Rate{of.rate}
	if of.rate.Name == "" {
		workers, rates = 1, nil
	}
	w.Core = NewCore(w.now, CoreOptions{
		Workers: workers, Rates: rates, Leading: func() bool { return true }, Jitter: func() float64 { return 0 },
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
	l.started = append(l.started, l.Step(l.now, Offered{candidate}).Starts...)
}

// next lets a second pass, and the call end that starts then. If slow, it lasts for two seconds.
func (l *loaded) next(slow bool) {
	l.now = l.now.Add(time.Second)
	l.started = append(l.started, l.Step(l.now, TimePassed{}).Starts...)
	if len(l.started) == 0 {
		return
	}
	uid := l.started[0].Pod.UID
	l.started = l.started[1:]
	if slow {
		l.now = l.now.Add(2 * time.Second)
		l.started = append(l.started, l.Step(l.now, TimePassed{}).Starts...)
	}
	l.started = append(l.started, l.Step(l.now, CallEnded{UID: uid, Outcome: eviction.Outcome{Kind: eviction.Accepted}}).Starts...)
	l.Step(l.now, Settled{uid})
}

// perStart returns the time that one start takes with all that comes with it, the end of a call and a further
// candidate, while n candidates wait.
func perStart(of load, n int, slow bool) time.Duration {
	w := newLoaded(of, n)
	for range 10 {
		w.next(slow)
	}
	began := time.Now()
	const starts = 200
	for i := range starts {
		w.next(slow)
		w.add(n + i)
	}
	return time.Since(began) / starts
}

// within requires a start to cost about the same in both cases: up to twice as much, and four times where 10,000
// namespaces wait, none of which is in a cache of the processor and whose queue is 13 deep instead of 3. A cost in
// proportion would make it a thousand. Other work on the machine makes a round longer and never shorter, so the least of
// all rounds counts.
func within(t *testing.T, few, many func() time.Duration) {
	t.Helper()
	a, b := few(), many()
	for rounds := 1; b > 5*a && rounds < 50; rounds++ {
		a, b = min(a, few()), min(b, many())
	}
	t.Logf("%v, and %v", a, b)
	if b > 5*a {
		t.Errorf("a start takes %v instead of %v", b, a)
	}
}

func TestAStartCostsTheSameHoweverManyWait(t *testing.T) {
	for _, of := range loads() {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, slow %v", of.name, slow), func(t *testing.T) {
				within(t, func() time.Duration { return perStart(of, 10, slow) }, func() time.Duration { return perStart(of, 10000, slow) })
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
	within(t, func() time.Duration { return perStart(of, 100, false) }, func() time.Duration { return perStart(of, 1000, false) })
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
