package dispatch

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// behaviour says how long a call for a pod takes, and how it ends.
type behaviour func(r *rand.Rand) (time.Duration, eviction.Outcome)

func quickly(r *rand.Rand) (time.Duration, eviction.Outcome) {
	return 7*time.Millisecond + time.Duration(r.Int64N(int64(23*time.Millisecond))), eviction.Outcome{Kind: eviction.Accepted}
}

func after(d time.Duration, o eviction.Outcome) behaviour {
	return func(*rand.Rand) (time.Duration, eviction.Outcome) { return d, o }
}

// fails is an outcome that is known to have deleted nothing, timesOut one that may have deleted.
var (
	succeeds = eviction.Outcome{Kind: eviction.Accepted}
	fails    = eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer, NothingDeleted: true}
	timesOut = eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseTimeout}
)

// world is a Core in virtual time: pods are offered when they are due, and again with backoff after a failure.
type world struct {
	core   *Core
	r      *rand.Rand
	now    time.Time
	events events
	serial int
	alarm  time.Time
	pods   map[types.UID]*evicted
	begin  time.Time
	always func() // nil, or what is checked after each step
}

// evicted is a pod of a world.
type evicted struct {
	Candidate
	behave behaviour
	fails  int
	lateBy eviction.LateBy // of the last call
	done   time.Time
}

type event struct {
	at     time.Time
	serial int
	do     func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at.Before(e[j].at) || e[i].at.Equal(e[j].at) && e[i].serial < e[j].serial
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newWorld(rates ...policy.Rate) *world {
	w := &world{r: rand.New(rand.NewPCG(1, 7)), now: time.Unix(1000, 0), begin: time.Unix(1000, 0), pods: map[types.UID]*evicted{}}
	w.core = NewCore(w.now, CoreOptions{
		Workers: 32, Rates: rates, Leading: func() bool { return true }, Jitter: w.r.Float64,
	})
	w.step(TermBegan{})
	return w
}

// after returns a moment in milliseconds after the begin.
func (w *world) after(ms int) time.Time { return w.begin.Add(time.Duration(ms) * time.Millisecond) }

func (w *world) at(at time.Time, do func()) {
	w.serial++
	heap.Push(&w.events, event{at, w.serial, do})
}

// pod adds a pod that is due some time after the begin.
func (w *world) pod(namespace string, node int, due time.Duration, b behaviour) *evicted {
	p := &evicted{behave: b}
	uid := types.UID(fmt.Sprintf("%05d", len(w.pods)))
	pod := &taint.Pod{UID: uid, Namespace: namespace, Node: fmt.Sprint("node", node)}
	p.Candidate = Candidate{Pod: pod, Deadline: w.begin.Add(due)}
	request := eviction.Request{Pod: pod, Attempt: 1}
	request.Verdict.Taint = &v1.Taint{Key: "down"}
	p.Requests = []eviction.Request{request}
	w.pods[uid] = p
	w.at(p.Deadline, func() { w.step(Offered{p.Candidate}) })
	return p
}

func (w *world) step(in Input) {
	effects := w.core.Step(w.now, in)
	w.alarm = effects.Next
	if effects.Probe != "" {
		w.at(w.now.Add(time.Millisecond), func() { w.step(NodeRead{effects.Probe, w.now, succeeds}) })
	}
	for _, s := range effects.Starts {
		p := w.pods[s.Pod.UID]
		p.lateBy = s.LateBy
		takes, outcome := p.behave(w.r)
		w.at(w.now.Add(takes), func() { w.end(p, outcome) })
	}
	w.check()
}

// check requires the invariants of rules 1 and 3.
func (w *world) check() {
	n, calls := w.core.places.n, w.core.calls
	young, of := 0, map[string]int{}
	for i, e := range calls {
		if e.started.Add(time.Second).After(w.now) {
			young++
		}
		if of[e.Namespace]++; e.started.Equal(w.now) && 2*(of[e.Namespace]-1) >= 3*n-i {
			panic(fmt.Sprintf("a call of %s has started as number %d of %d", e.Namespace, of[e.Namespace], i+1))
		}
	}
	if young > n || len(calls) > 3*n {
		panic(fmt.Sprintf("%d calls are young and %d in flight", young, len(calls)))
	}
	if w.always != nil {
		w.always()
	}
}

func (w *world) end(p *evicted, o eviction.Outcome) {
	w.step(CallEnded{p.UID, o})
	w.step(Settled{p.UID})
	if o.Kind == eviction.Accepted {
		p.done = w.now
		return
	}
	p.fails++
	p.Requests = slices.Clone(p.Requests)
	p.Requests[0].Attempt++
	backoff := min(time.Minute, 100*time.Millisecond<<min(p.fails-1, 12))
	w.at(w.now.Add(backoff/2+time.Duration(w.r.Int64N(int64(backoff/2)))), func() { w.step(Offered{p.Candidate}) })
}

// nextAt returns when something happens next; there is something.
func (w *world) nextAt() time.Time {
	if len(w.events) == 0 {
		return w.alarm
	}
	return sooner(w.alarm, w.events[0].at)
}

// run runs until all of these pods are done, or for some time.
func (w *world) run(pods []*evicted, most time.Duration) {
	for left := pods; len(left) > 0; left = slices.DeleteFunc(slices.Clone(left), func(p *evicted) bool { return !p.done.IsZero() }) {
		for range 50 {
			if len(w.events) == 0 && w.alarm.IsZero() {
				return
			}
			if w.nextAt().Sub(w.begin) > most {
				return
			}
			if !w.alarm.IsZero() && (len(w.events) == 0 || w.alarm.Before(w.events[0].at)) {
				w.now = later(w.now, w.alarm)
				w.step(TimePassed{})
			} else {
				e := heap.Pop(&w.events).(event)
				w.now = e.at
				e.do()
			}
		}
	}
}

// longest returns the longest wait of pods after their deadlines; pods that are not done count an hour.
func longest(pods []*evicted) (wait time.Duration) {
	for _, p := range pods {
		if p.done.IsZero() {
			return time.Hour
		}
		wait = max(wait, p.done.Sub(p.Deadline))
	}
	return wait
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// rateOfServer returns how many of 600 pods of that many namespaces go in a second, where a server completes that many
// calls a second, one after the other.
func rateOfServer(t *testing.T, perSecond float64, namespaces int) float64 {
	w := newWorld()
	var free time.Time
	var all []*evicted
	shared := func(*rand.Rand) (time.Duration, eviction.Outcome) {
		free = later(free, w.now).Add(seconds(1 / perSecond))
		return free.Sub(w.now), succeeds
	}
	for i := range 600 {
		all = append(all, w.pod(fmt.Sprint("n", i%namespaces), i%20, 0, shared))
	}
	w.always = func() {
		for _, p := range all {
			waits := w.core.Status(w.now, p.UID).Waits
			if namespaces == 1 && waits.Cause == eviction.WaitsForShare {
				t.Fatal("the only namespace waits for its share")
			}
		}
	}
	w.run(all, time.Hour)
	return 600 / longest(all).Seconds()
}

func TestASlowServerIsUsedToTheFull(t *testing.T) {
	for _, perSecond := range []float64{5, 20, 200} {
		for _, namespaces := range []int{1, 50} {
			if got := rateOfServer(t, perSecond, namespaces); got < .95*perSecond {
				t.Errorf("a server that completes %v calls a second, %d namespaces: %v a second", perSecond, namespaces, got)
			}
		}
	}
}

// A server completes two calls a second, in the order in which they were sent. A call that waits for 34 s has timed
// out, and the server still deletes its pod if it was accepted.
func TestAServerThatIsHopelesslySlowDoesUsefulWorkAndDeletesNothingTwice(t *testing.T) {
	w := newWorld()
	var free time.Time
	gone, calls := map[types.UID]bool{}, 0
	var all []*evicted
	for i := range 200 {
		var p *evicted
		p = w.pod(fmt.Sprint("n", i%50), i%20, 0, func(*rand.Rand) (time.Duration, eviction.Outcome) {
			if gone[p.UID] {
				return 5 * time.Millisecond, succeeds // the confirmation finds it terminating
			}
			calls++
			start := later(free, w.now)
			if start.Sub(w.now) > 34*time.Second {
				return 34 * time.Second, timesOut // given up in the queue
			}
			free = start.Add(seconds(.5))
			gone[p.UID] = true
			if free.Sub(w.now) > 34*time.Second {
				return 34 * time.Second, timesOut // the answer is lost
			}
			return free.Sub(w.now), succeeds
		})
		all = append(all, p)
	}
	w.run(all, time.Hour)
	if useful := 200 / longest(all).Seconds(); useful < .9*2 {
		t.Errorf("%v pods go in a second, want 0.9 of the server's 2; %d calls", useful, calls)
	}
}

func TestLongCallsRunAtTheRateOfPlainWorkers(t *testing.T) {
	for _, latency := range []float64{.01, .1, .5, .9, 1.05, 1.2, 1.5, 3, 10, 30} {
		w := newWorld()
		var all []*evicted
		for i := range 960 {
			all = append(all, w.pod("a", i%20, 0, after(seconds(latency), succeeds)))
		}
		w.run(all, time.Hour)
		if took := longest(all); took > seconds(30*latency)+120*time.Millisecond { // the places open one after another
			t.Errorf("960 calls of %v s take %v, with plain workers %v s", latency, took, 30*latency)
		}
	}
}

// rated returns a world in which a rate permits one eviction a second, and limited one in which one call a second may
// start.
func rated() *world { return newWorld(policy.Rate{Name: "all", EvictionsPerSecond: 1, Burst: 5}) }

func limited() *world {
	w := newWorld()
	w.core.pace = newPace(1)
	return w
}

// last returns when the last of 60 pods goes that wait for the same rate, or limit, as others.
func (w *world) last(pods behaviour, others int, theirs behaviour) time.Duration {
	var mine []*evicted
	for i := range others {
		w.pod("others", i%20, 0, theirs)
	}
	for i := range 60 {
		mine = append(mine, w.pod("mine", i%20, 0, pods))
	}
	w.run(mine, time.Hour)
	return longest(mine)
}

func TestTokensOfARateGoRound(t *testing.T) {
	slowly := after(20*time.Second, succeeds)
	quick, slow := rated().last(quickly, 30, quickly), rated().last(quickly, 30, after(30*time.Second, fails))
	alone, crowded := rated().last(slowly, 0, nil), rated().last(slowly, 1000, quickly)
	t.Logf("60 quick pods next to 30 others: %v if these are quick, %v if they hang; 60 slow pods: %v alone, %v next to 1000 quick ones", quick, slow, alone, crowded)
	if slow > quick*12/10 {
		t.Errorf("60 pods take %v next to 30 that hang, and %v next to 30 that are quick", slow, quick)
	}
	if crowded > 2*alone*12/10 {
		t.Errorf("60 slow pods take %v next to 1000 quick ones, and %v alone", crowded, alone)
	}
}

// A call counts even if it fails, so those that fail again and again take half of the calls.
func TestCallsGoRoundIfAllAreLimited(t *testing.T) {
	slowly := after(20*time.Second, succeeds)
	for name, c := range map[string]struct {
		pods   behaviour
		others int
		theirs behaviour
	}{
		"slow pods next to quick ones":      {slowly, 1000, quickly},
		"quick pods next to ones that hang": {quickly, 30, after(30*time.Second, fails)},
	} {
		alone, crowded := limited().last(c.pods, 0, nil), limited().last(c.pods, c.others, c.theirs)
		if t.Logf("%s: %v, alone %v", name, crowded, alone); crowded > 2*alone*12/10 {
			t.Errorf("%s: 60 pods take %v, and %v alone", name, crowded, alone)
		}
	}
}

// A pause of the server of two seconds, in the midst of a burst of 3000 pods.
func TestAPauseOfTheServerSlowsABurstByItsLength(t *testing.T) {
	burst := func(pause time.Duration) time.Duration {
		w := newWorld()
		ends := w.after(500).Add(pause)
		var all []*evicted
		for i := range 3000 {
			all = append(all, w.pod("shop", i%100, 0, func(r *rand.Rand) (time.Duration, eviction.Outcome) {
				takes, o := quickly(r)
				if done := w.now.Add(takes); done.After(w.after(500)) && done.Before(ends) {
					takes = ends.Sub(w.now)
				}
				return takes, o
			}))
		}
		w.run(all, time.Hour)
		return longest(all)
	}
	if alone, paused := burst(0), burst(2*time.Second); paused > alone+2200*time.Millisecond {
		t.Errorf("the last pod is gone after %v, without the pause after %v", paused, alone)
	}
}
