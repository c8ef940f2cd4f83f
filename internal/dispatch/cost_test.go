package dispatch

import (
	"fmt"
	"runtime/debug"
	"syscall"
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
	added   int                // candidates
	starts  int                // of calls
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
	for range n {
		w.add()
	}
	return w
}

// add adds a candidate.
func (l *loaded) add() {
	candidate := l.of.candidate(l.added)
	candidate.UID, candidate.Deadline = types.UID(fmt.Sprint(l.added)), l.now
	l.added++
	request := eviction.Request{Pod: candidate.Pod}
	request.Verdict.Taint = &v1.Taint{Key: "down"}
	candidate.Requests = []eviction.Request{request}
	candidate.NodeLabels = map[string]string{"kubernetes.io/hostname": candidate.Node}
	l.step(Offered{candidate})
}

func (l *loaded) step(in Input) {
	starts := l.Step(l.now, in).Starts
	l.starts += len(starts)
	l.started = append(l.started, starts...)
}

// next lets a second pass, and the call end that starts then. If slow, it lasts for two seconds.
func (l *loaded) next(slow bool) {
	l.now = l.now.Add(time.Second)
	l.step(TimePassed{})
	if len(l.started) == 0 {
		return
	}
	uid := l.started[0].Pod.UID
	l.started = l.started[1:]
	if slow {
		l.now = l.now.Add(2 * time.Second)
		l.step(TimePassed{})
	}
	l.step(CallEnded{UID: uid, Outcome: eviction.Outcome{Kind: eviction.Accepted}})
	l.Step(l.now, Settled{uid})
}

// perStart returns the processor time that one start takes with all that comes with it, the end of a call and a further
// candidate for each.
func (l *loaded) perStart(t *testing.T, slow bool) time.Duration {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before, began := l.starts, processor(t)
	for i := l.starts; l.starts < before+200; {
		for l.next(slow); i < l.starts; i++ {
			l.add()
		}
	}
	return (processor(t) - began) / time.Duration(l.starts-before)
}

// processor returns the processor time that this process has used. Other work on the machine does not count.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// within requires something to cost about the same in both cases. A cost in proportion would make it a hundred times as
// much, or more; up to ten times as much is allowed, because more data misses the caches of the processor more often,
// and while memory is swapped even more so. The least of all rounds counts.
func within(t *testing.T, few, many func() time.Duration) {
	t.Helper()
	if testing.Short() {
		t.Skip("it measures for seconds")
	}
	const atMost = 10
	a, b := few(), many()
	for rounds := 1; rounds < 5 || b > atMost*a && rounds < 20; rounds++ {
		a, b = min(a, few()), min(b, many())
	}
	t.Logf("%v, and %v", a, b)
	if b > atMost*a {
		t.Errorf("it takes %v instead of %v", b, a)
	}
}

func TestAStartCostsTheSameHoweverManyWait(t *testing.T) {
	for _, of := range loads() {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, slow %v", of.name, slow), func(t *testing.T) {
				few, many := newLoaded(of, 10), newLoaded(of, 10000)
				within(t, func() time.Duration { return few.perStart(t, slow) }, func() time.Duration { return many.perStart(t, slow) })
			})
		}
	}
}

// A token is looked for once in each group, and not for each candidate.
func TestATokenOfManyGroupsCostsAsManyLooksAsThereAreGroups(t *testing.T) {
	few, many := newLoaded(hosts(100), 100), newLoaded(hosts(100), 10000)
	within(t, func() time.Duration { return few.perStart(t, false) }, func() time.Duration { return many.perStart(t, false) })
}

// hosts returns a load under a rate of each host.
func hosts(n int) load {
	return load{
		"a host's rate each",
		policy.Rate{Name: "host", EvictionsPerSecond: 1, Burst: 1, TopologyKey: "kubernetes.io/hostname"},
		func(i int) Candidate {
			return Candidate{Pod: &taint.Pod{Namespace: "ns", Node: fmt.Sprint("node", i%n)}}
		},
	}
}

// Groups that have no token are not looked at again for each offer.
func TestAnOfferCostsTheSameHoweverManyGroupsWait(t *testing.T) {
	perOffer := func(groups int) func() time.Duration {
		w := newLoaded(hosts(groups), 3*groups)
		return func() time.Duration {
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			began := processor(t)
			for range 500 {
				w.add()
			}
			return (processor(t) - began) / 500
		}
	}
	within(t, perOffer(10), perOffer(3000))
}
