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
	yield  func() // nil: none is expected
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
		Slots: 32, SlowPlaces: 64, Rates: rates, Leading: func() bool { return true }, Jitter: w.r.Float64,
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
func (w *world) pod(namespace string, node int, workload uint64, due time.Duration, b behaviour) *evicted {
	p := &evicted{behave: b}
	uid := types.UID(fmt.Sprintf("%05d", len(w.pods)))
	pod := &taint.Pod{UID: uid, Namespace: namespace, Node: fmt.Sprint("node", node), LabelHash: workload}
	p.Candidate = Candidate{Pod: pod, Deadline: w.begin.Add(due)}
	request := eviction.Request{Pod: pod}
	request.Verdict.Taint = &v1.Taint{Key: "down"}
	p.Ways = []eviction.Request{request}
	w.pods[uid] = p
	w.at(p.Deadline, func() { w.step(Offered{p.Candidate}) })
	return p
}

// showQuick lets the namespaces and workloads of these pods have had quick calls a second before they are due.
func (w *world) showQuick(pods []*evicted) {
	seen := map[string]bool{}
	for _, p := range pods {
		if key := fmt.Sprint(p.Namespace, p.LabelHash); !seen[key] {
			seen[key] = true
			l := w.core.workloadOf(&p.Candidate)
			w.core.remember(w.now, l, quick)
			w.core.refresh(w.now, l)
		}
	}
}

func (w *world) step(in Input) {
	do := w.core.Step(w.now, in)
	w.alarm = do.Next
	if do.Yield {
		w.yield()
	}
	for _, s := range do.Starts {
		p := w.pods[s.Pod.UID]
		p.lateBy = s.LateBy
		takes, outcome := p.behave(w.r)
		w.at(w.now.Add(takes), func() { w.end(p, outcome) })
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

// waits returns the median and the longest wait of pods after their deadlines; pods that are not done count an hour.
func waits(pods []*evicted) (median, longest time.Duration) {
	var all []time.Duration
	for _, p := range pods {
		wait := time.Hour
		if !p.done.IsZero() {
			wait = p.done.Sub(p.Deadline)
		}
		all = append(all, wait)
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}

// requireWaits runs until these pods are gone, which are due some time after the begin, and requires their waits to be at
// most these. If quick, their workloads are known to be quick before.
func (w *world) requireWaits(t *testing.T, pods []*evicted, due time.Duration, quick bool, median, longest time.Duration) {
	t.Helper()
	if quick {
		w.run(pods, due-time.Second)
		w.showQuick(pods)
	}
	w.run(pods, due+time.Minute)
	gotMedian, gotLongest := waits(pods)
	t.Logf("median %v, longest %v", gotMedian, gotLongest)
	if gotMedian > median || gotLongest > longest {
		t.Errorf("they wait for %v, at most %v; want %v, %v", gotMedian, gotLongest, median, longest)
	}
}

// TestSlowNamespacesDelayOthersByMomentsOnly has namespaces of a thousand pods each, whose calls take 30 s and fail.
func TestSlowNamespacesDelayOthersByMomentsOnly(t *testing.T) {
	sec := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	for _, row := range []struct {
		namespaces      int
		wereQuick       bool
		median, longest time.Duration
	}{
		{1, false, sec(.3), sec(1)},
		{1, true, sec(1), sec(2)},
		{8, false, sec(1), sec(2)},
		{8, true, sec(1), sec(2)},
		{40, false, sec(2.5), sec(3)},
		{40, true, sec(2.5), sec(3)},
	} {
		for _, labels := range []string{"equal", "different"} {
			for _, due := range []time.Duration{0, sec(.5), sec(5), sec(120)} {
				for _, othersQuick := range []bool{false, true} {
					name := fmt.Sprintf("%d namespaces, quick before %v, labels %s, others due %v later, quick before %v",
						row.namespaces, row.wereQuick, labels, due, othersQuick)
					t.Run(name, func(t *testing.T) {
						w := newWorld()
						var slowPods, others []*evicted
						for i := range row.namespaces * 1000 {
							workload := uint64(0)
							if labels == "different" {
								workload = uint64(i / row.namespaces)
							}
							slowPods = append(slowPods, w.pod(fmt.Sprint("slow", i%row.namespaces), w.r.IntN(20), workload, 0, after(30*time.Second, fails)))
						}
						for i := range 200 {
							others = append(others, w.pod("others", i%20, 1, due, quickly))
						}
						if row.wereQuick {
							w.showQuick(slowPods)
						}
						w.requireWaits(t, others, due, othersQuick, row.median, row.longest)
					})
				}
			}
		}
	}
}

// TestASlowNamespaceDelaysItsOwnQuickPodsByMomentsOnly has a thousand slow pods that are alike, beside pods of another
// workload of their namespace.
func TestASlowNamespaceDelaysItsOwnQuickPodsByMomentsOnly(t *testing.T) {
	for _, row := range []struct {
		name            string
		known           bool // to be quick
		median, longest time.Duration
	}{
		{"known to be quick", true, 300 * time.Millisecond, time.Second},
		{"unknown", false, 200 * time.Millisecond, time.Second},
	} {
		for _, due := range []time.Duration{2 * time.Second, 5 * time.Second, 2 * time.Minute} {
			t.Run(fmt.Sprintf("%s, due %v later", row.name, due), func(t *testing.T) {
				w := newWorld()
				for range 1000 {
					w.pod("shop", w.r.IntN(20), 0, 0, after(30*time.Second, fails))
				}
				var others []*evicted
				for i := range 200 {
					others = append(others, w.pod("shop", i%20, 1, due, quickly))
				}
				w.requireWaits(t, others, due, row.known, row.median, row.longest)
			})
		}
	}
}

// TestSlowCallsLeaveARateToOthers has thirty slow pods under a rate of one a second, beside sixty others.
func TestSlowCallsLeaveARateToOthers(t *testing.T) {
	rate := policy.Rate{Name: "all", EvictionsPerSecond: 1, Burst: 5}
	others := func(w *world) (all []*evicted) {
		for i := range 60 {
			all = append(all, w.pod("others", i%20, 1, 0, quickly))
		}
		return all
	}
	alone := newWorld(rate)
	mine := others(alone)
	alone.run(mine, time.Hour)
	_, want := waits(mine)
	for _, namespace := range []string{"slow", "others"} {
		for _, labels := range []string{"equal", "different"} {
			for _, end := range []struct {
				name    string
				outcome eviction.Outcome
			}{{"succeed", succeeds}, {"fail", fails}, {"time out", timesOut}} {
				t.Run(fmt.Sprintf("the slow calls of namespace %s, labels %s, %s", namespace, labels, end.name), func(t *testing.T) {
					w := newWorld(rate)
					for i := range 30 {
						workload := uint64(2)
						if labels == "different" {
							workload += uint64(i)
						}
						w.pod(namespace, w.r.IntN(20), workload, 0, after(30*time.Second, end.outcome))
					}
					mine := others(w)
					if namespace == "others" && labels == "different" {
						w.showQuick(mine) // unknown workloads of one namespace would take turns with the slow ones
					}
					w.run(mine, time.Hour)
					_, longest := waits(mine)
					t.Logf("the last after %v, alone %v", longest, want)
					if longest > want*12/10 {
						t.Errorf("the last of the others is gone after %v, alone after %v", longest, want)
					}
				})
			}
		}
	}
}

// TestAPauseOfTheServerSlowsABurstByMomentsOnly has 3000 pods of one namespace, whose calls under way half a second
// after the begin take two seconds.
func TestAPauseOfTheServerSlowsABurstByMomentsOnly(t *testing.T) {
	burst := func(pause time.Duration) time.Duration {
		w := newWorld()
		ends := w.after(500).Add(pause)
		var all []*evicted
		for i := range 3000 {
			all = append(all, w.pod("shop", i%100, 1, 0, func(r *rand.Rand) (time.Duration, eviction.Outcome) {
				takes, o := quickly(r)
				if done := w.now.Add(takes); done.After(w.after(500)) && done.Before(ends) {
					takes = ends.Sub(w.now)
				}
				return takes, o
			}))
		}
		w.run(all, time.Hour)
		_, longest := waits(all)
		return longest
	}
	alone, paused := burst(0), burst(2*time.Second)
	t.Logf("the last after %v, with a pause %v", alone, paused)
	if paused > alone+4*time.Second {
		t.Errorf("the last pod is gone after %v, without the pause after %v", paused, alone)
	}
}

// TestANamespaceThatIsSlowAndQuickByTurnsDelaysOthersByMomentsOnly has webhooks that answer as many calls at once as
// make a namespace quick again, and then hold as many calls for 30 s.
func TestANamespaceThatIsSlowAndQuickByTurnsDelaysOthersByMomentsOnly(t *testing.T) {
	for _, namespaces := range []int{1, 8} {
		for _, held := range []int{1, 16, 64} {
			t.Run(fmt.Sprintf("%d namespaces, %d calls held", namespaces, held), func(t *testing.T) {
				for due := 100 * time.Second; due < 140*time.Second; due += 2 * time.Second {
					w := newWorld()
					calls := make([]int, namespaces)
					for i := range namespaces * 3000 {
						of := i % namespaces
						w.pod(fmt.Sprint("slow", of), w.r.IntN(20), 0, 0, func(r *rand.Rand) (time.Duration, eviction.Outcome) {
							calls[of]++
							if calls[of]%(recovered+held) < recovered {
								takes, _ := quickly(r)
								return takes, eviction.Outcome{Kind: eviction.Blocked}
							}
							return 30 * time.Second, fails
						})
					}
					var others []*evicted
					for i := range 200 {
						others = append(others, w.pod("others", i%20, 1, due, quickly))
					}
					w.requireWaits(t, others, due, false, time.Second, 2*time.Second)
				}
			})
		}
	}
}
