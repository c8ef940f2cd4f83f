package evict

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
)

// of returns an eviction of a pod of that workload.
func of(app string) eviction.Request {
	e := someRequest()
	pod := *e.Pod
	pod.Labels = map[string]string{"app": app}
	e.Pod = &pod
	return e
}

// byApp makes each call last as long as the pod's label app says, and notes when each began.
type byApp struct {
	mu    sync.Mutex
	takes map[string]time.Duration
	began map[string][]time.Duration
	born  time.Time
	now   map[string]int // under way
	most  int
}

func newByApp(takes map[string]time.Duration) *byApp {
	return &byApp{takes: takes, began: map[string][]time.Duration{}, born: time.Now(), now: map[string]int{}}
}

func (f *byApp) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	app := e.Pod.Labels["app"]
	takes := f.note(app, 1)
	defer f.note(app, -1)
	select {
	case <-time.After(takes):
		return eviction.Outcome{Kind: eviction.Accepted}
	case <-ctx.Done():
		return eviction.Outcome{Kind: eviction.Interrupted}
	}
}

// note counts the calls under way by n, and returns how long one of app takes.
func (f *byApp) note(app string, n int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now[app] += n; n > 0 {
		f.began[app] = append(f.began[app], time.Since(f.born))
	}
	all := 0
	for _, n := range f.now {
		all += n
	}
	f.most = max(f.most, all)
	return f.takes[app]
}

// set makes the calls of app that begin from now on last as long as takes.
func (f *byApp) set(app string, takes time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takes[app] = takes
}

// first returns how long after f was made the first call of app began.
func (f *byApp) first(app string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.began[app][0]
}

// atOnce returns how many calls were under way together at most.
func (f *byApp) atOnce() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

func (f *byApp) count(app string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.began[app])
}

// slowDemand starts a call with every permit of a slow place.
func slowDemand(t *testing.T, p *Pool, next func() eviction.Request) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case g := <-p.SlowPermits():
				g.Start(next(), func(eviction.Outcome) {})
			}
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return stop
}

func permittedPlace(p *Pool) bool { return offered(p.SlowPermits()) }

func isSlow(p *Pool, app string) bool {
	slow, _ := p.SlowWorkloads()
	_, ok := slow[shard.WorkloadOf(of(app).Pod)]
	return ok
}

// freeSlots returns how many slots no call holds.
func freeSlots(p *Pool) int {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limiter.freeSlots() + p.limiter.reservedSlots
}

// kept returns how many slow calls hold slots.
func kept(p *Pool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limiter.Kept()
}

func TestACallHoldsASlotForASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 30 * time.Second})
		p := NewPool(PoolOptions{Evictor: f, Workers: 4, MaxSlow: 8})
		defer lead(t, p)()
		defer demandFor(t, p, func() eviction.Request { return of("slow") }).stop()
		for _, want := range []int{4, 8, 12, 12} { // of which four hold slots in the end, as all places are taken
			time.Sleep(900 * time.Millisecond)
			synctest.Wait()
			if f.count("slow") != want || p.InFlight() != want {
				t.Errorf("%d calls, %d in flight, want %d", f.count("slow"), p.InFlight(), want)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if most := f.atOnce(); most > 12 {
			t.Errorf("%d calls at once", most)
		}
	})
}

// They would hold their slots for longer than the first of them did, while it is known what they are.
func TestTheFirstSlowCallOfAWorkloadTakesTheOthersInSlotsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 30 * time.Second})
		p := NewPool(PoolOptions{Evictor: f})
		defer lead(t, p)()
		slow := demandFor(t, p, func() eviction.Request { return of("slow") })
		defer slowDemand(t, p, func() eviction.Request { return of("slow") })()
		time.Sleep(999 * time.Millisecond)
		slow.stop() // 32 have started, four of them at once and the others 4 ms apart
		synctest.Wait()
		if p.InFlight() != 32 || permitted(p) {
			t.Errorf("%d calls under way within the first second, want all slots taken", p.InFlight())
		}
		time.Sleep(2 * time.Millisecond)
		if n := freeSlots(p); n != 32 {
			t.Errorf("%d slots are free after the first second, want all", n)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if p.InFlight() != 64 || kept(p) != 0 {
			t.Errorf("%d calls under way, %d keep slots, want 64 in slow places", p.InFlight(), kept(p))
		}
	})
}

func TestSlowCallsLeaveTheSlotsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 30 * time.Second, "web": 10 * time.Millisecond})
		p := NewPool(PoolOptions{Evictor: f, Workers: 4, MaxSlow: 8})
		defer lead(t, p)()
		slow := demandFor(t, p, func() eviction.Request { return of("slow") })
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		slow.stop() // from now on shards hold them back for slow places
		defer slowDemand(t, p, func() eviction.Request { return of("slow") })()
		defer demandFor(t, p, func() eviction.Request { return of("web") }).stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := f.first("web"); got > SlowAfter+time.Millisecond {
			t.Errorf("the first of the others began after %v", got)
		}
		if n := f.count("web"); n < 3000 || f.count("slow") != 8 {
			t.Errorf("%d of the others in 9 s and %d slow ones, want all 4 slots used, and all 8 places", n, f.count("slow"))
		}
	})
}

func TestSlowPlacesAreGrantedOnlyWhileSomethingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 10 * time.Second, "web": 900 * time.Millisecond})
		p := NewPool(PoolOptions{Evictor: f})
		defer lead(t, p)()
		_, changed := p.SlowWorkloads()
		(<-p.Permits()).Start(of("web"), func(eviction.Outcome) {})
		time.Sleep(5 * time.Second)
		if slow, _ := p.SlowWorkloads(); permittedPlace(p) || slow != nil {
			t.Errorf("a slow place is permitted, or %v are slow, while nothing is", slow)
		}
		(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
		time.Sleep(2 * time.Second)
		select {
		case <-changed:
		default:
			t.Error("nobody was told that other workloads are slow")
		}
		if !permittedPlace(p) || !isSlow(p, "slow") || isSlow(p, "web") {
			t.Error("no slow place is permitted while something is slow")
		}
	})
}

func TestAQuickCallInASlowPlaceEndsTheSlowness(t *testing.T) {
	for name, c := range map[string]struct {
		outcome eviction.Outcome
		slow    bool
	}{
		"the deletion was accepted":             {eviction.Outcome{Kind: eviction.Accepted}, false},
		"a webhook denied it":                   {eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission}, false},
		"a webhook is down":                     {eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseWebhook}, false},
		"a budget blocks it":                    {eviction.Outcome{Kind: eviction.Blocked, Cause: eviction.CausePDB}, false},
		"the node was not confirmed":            {eviction.Outcome{Kind: eviction.Unconfirmed}, true},
		"the API server cannot be reached":      {eviction.Outcome{Kind: eviction.Unavailable}, true},
		"the API server is loaded":              {eviction.Outcome{Kind: eviction.Throttled}, true},
		"the pod is gone":                       {eviction.Outcome{Kind: eviction.NotFound}, true},
		"this program may not read the node":    {eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseRBAC}, true},
		"it was cut as leadership has ended":    {eviction.Outcome{Kind: eviction.Interrupted}, true},
		"the evictor of the embedder panicked":  {eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CausePanic}, true},
		"somebody else has written at the time": {eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseConflict}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeEvictor{answer: func(_ context.Context, n int) eviction.Outcome {
					if n == 0 {
						time.Sleep(2 * time.Second)
						return eviction.Outcome{Kind: eviction.Accepted}
					}
					return c.outcome
				}}
				p := NewPool(PoolOptions{Evictor: f})
				defer lead(t, p)()
				(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if !isSlow(p, "slow") {
					t.Fatal("the workload is not slow once its slow call has ended")
				}
				_, changed := p.SlowWorkloads()
				(<-p.SlowPermits()).Start(of("slow"), func(eviction.Outcome) {})
				synctest.Wait()
				if isSlow(p, "slow") != c.slow {
					t.Errorf("slow: %v, want %v", !c.slow, c.slow)
				}
				select {
				case <-changed:
				default:
					if !c.slow {
						t.Error("nobody was told")
					}
				}
			})
		})
	}
}

// It starts in a slot where all slow places are taken by others.
func TestAQuickCallInASlotEndsTheSlownessOfAWorkloadThatHasNoOtherCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 10 * time.Minute, "web": 1500 * time.Millisecond})
		p := NewPool(PoolOptions{Evictor: f, MaxSlow: 1})
		defer lead(t, p)()
		(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
		(<-p.Permits()).Start(of("web"), func(eviction.Outcome) {})
		workload := shard.WorkloadOf(of("web").Pod)
		time.Sleep(1200 * time.Millisecond)
		if slow, _ := p.SlowWorkloads(); !slow[workload] {
			t.Errorf("%v, want a call of web under way", slow)
		}
		time.Sleep(time.Second)
		slow, changed := p.SlowWorkloads()
		if busy, ok := slow[workload]; !ok || busy {
			t.Errorf("%v, want web slow, and no call of it under way", slow)
		}
		f.set("web", time.Millisecond)
		g := <-p.Permits()
		g.Start(of("web"), func(eviction.Outcome) {})
		if slow, _ := p.SlowWorkloads(); !slow[workload] {
			t.Errorf("%v, want a call of web under way", slow)
		}
		<-changed
		time.Sleep(time.Second)
		synctest.Wait()
		if isSlow(p, "web") || !isSlow(p, "slow") {
			t.Errorf("web is slow: %v, slow is: %v", isSlow(p, "web"), isSlow(p, "slow"))
		}
	})
}

// Where a webhook holds some pods of a workload only, each quick one would let the slow ones take slots anew.
func TestAWorkloadStaysSlowWhileOthersOfItsCallsAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var takes atomic.Int64
		takes.Store(int64(20 * time.Second))
		f := &fakeEvictor{answer: func(context.Context, int) eviction.Outcome {
			time.Sleep(time.Duration(takes.Load()))
			return eviction.Outcome{Kind: eviction.Accepted}
		}}
		p := NewPool(PoolOptions{Evictor: f})
		defer lead(t, p)()
		(<-p.Permits()).Start(of("mixed"), func(eviction.Outcome) {})
		time.Sleep(2 * time.Second)
		takes.Store(int64(time.Millisecond))
		for _, want := range []bool{true, false} {
			(<-p.SlowPermits()).Start(of("mixed"), func(eviction.Outcome) {})
			time.Sleep(time.Second)
			synctest.Wait()
			if isSlow(p, "mixed") != want {
				t.Errorf("slow: %v, want %v", !want, want)
			}
			time.Sleep(20 * time.Second)
		}
	})
}

func TestAWorkloadIsForgottenTwoMinutesAfterItsLastSlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 30 * time.Second})
		p := NewPool(PoolOptions{Evictor: f})
		defer lead(t, p)()
		(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
		time.Sleep(30*time.Second + slowFor - time.Second)
		permitted(p)
		if synctest.Wait(); !isSlow(p, "slow") {
			t.Error("forgotten within two minutes")
		}
		time.Sleep(slowFor / 2)
		permitted(p)
		if synctest.Wait(); isSlow(p, "slow") || permittedPlace(p) {
			t.Error("not forgotten")
		}
	})
}

func TestTheSlowWorkloadsAreBounded(t *testing.T) {
	s := slowWorkloads{}
	now := epoch
	for i := range 2 * maxWorkloads {
		e := of(fmt.Sprint(i))
		s.late(e.Pod, false)
		now = now.Add(time.Millisecond)
		s.end(now, Ticket{Place: true, late: true, counted: true}, e.Pod, eviction.Outcome{Kind: eviction.Accepted})
	}
	if len(s.known) != maxWorkloads || len(s.snapshot) != maxWorkloads {
		t.Errorf("%d are known, %d are published, want %d", len(s.known), len(s.snapshot), maxWorkloads)
	}
	if _, ok := s.known[shard.WorkloadOf(of("0").Pod)]; ok {
		t.Error("the oldest is still known")
	}
	s.expire(now.Add(slowFor))
	if s.known == nil || len(s.known) != 0 || s.snapshot != nil {
		t.Errorf("%d are left", len(s.known))
	}
}

func TestWhereSlowPlacesAreTakenCallsKeepTheirSlotsAndThatIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 30 * time.Second})
		m := newMetrics()
		p := NewPool(PoolOptions{Evictor: f, Workers: 4, MaxSlow: 2, Metrics: m})
		var log strings.Builder
		var mu sync.Mutex
		logger := funcr.New(func(_, args string) { mu.Lock(); defer mu.Unlock(); log.WriteString(args + "\n") }, funcr.Options{})
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		led := make(chan error)
		go func() { led <- p.Lead(ctx) }()
		for range 6 {
			(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
		}
		time.Sleep(2 * time.Second)
		if permitted(p) || permittedPlace(p) || p.InFlight() != 6 {
			t.Errorf("permitted beyond slots and slow places, %d in flight", p.InFlight())
		}
		if got := testutil.ToFloat64(m.kept); got != 4 || testutil.ToFloat64(m.slow) != 6 {
			t.Errorf("%v calls kept their slots, %v are slow, want 4 and 6", got, testutil.ToFloat64(m.slow))
		}
		mu.Lock()
		if n := strings.Count(log.String(), "keep their slots"); n != 1 {
			t.Errorf("told %d times: %s", n, log.String())
		}
		mu.Unlock()
		time.Sleep(27 * time.Second) // the first four have ended: the two that are left take their places
		synctest.Wait()
		if p.InFlight() != 2 || kept(p) != 0 {
			t.Errorf("%d in flight, %d in slots", p.InFlight(), kept(p))
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if testutil.ToFloat64(m.slow) != 0 || p.InFlight() != 0 {
			t.Errorf("%v are slow, %d in flight", testutil.ToFloat64(m.slow), p.InFlight())
		}
		cancel()
		if err := <-led; err != nil {
			t.Error(err)
		}
	})
}

// The rate counts all calls, and only one permit is undecided at a time.
func TestTheRateHoldsForSlowPlacesToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": 5 * time.Second, "web": 0})
		p := NewPool(PoolOptions{Evictor: f, Rate: 2})
		defer lead(t, p)()
		(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
		time.Sleep(1900 * time.Millisecond)
		g := <-p.SlowPermits()
		if permitted(p) || permittedPlace(p) {
			t.Error("permitted beyond the rate")
		}
		g.Release()
		defer demandFor(t, p, func() eviction.Request { return of("web") }).stop()
		defer slowDemand(t, p, func() eviction.Request { return of("slow") })()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := f.count("web") + f.count("slow"); n < 20 || n > 25 || f.count("slow") < 3 || f.count("web") < 3 {
			t.Errorf("%d and %d calls in 12 s at 2 a second", f.count("web"), f.count("slow"))
		}
	})
}

func TestCallsInSlowPlacesBeginOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newByApp(map[string]time.Duration{"slow": time.Hour})
		p := NewPool(PoolOptions{Evictor: f})
		defer lead(t, p)()
		(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
		time.Sleep(2 * time.Second)
		defer slowDemand(t, p, func() eviction.Request { return of("slow") })()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if n := f.count("slow"); n < 20 || n > 35 {
			t.Errorf("%d calls within 100 ms, want one every 4 ms", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := p.InFlight(); n != 64 {
			t.Errorf("%d calls under way, want 64", n)
		}
	})
}

// While calls pause, one permit is on offer, for any shard that has something due.
func TestAProbeMayStartInASlowPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeEvictor{answer: func(_ context.Context, n int) eviction.Outcome {
			if n == 0 {
				time.Sleep(1500 * time.Millisecond)
			}
			return eviction.Outcome{Kind: eviction.Unavailable}
		}}
		p := NewPool(PoolOptions{Evictor: f})
		p.limiter.outage.jitter = func() float64 { return 1 }
		defer lead(t, p)()
		(<-p.Permits()).Start(of("slow"), func(eviction.Outcome) {})
		time.Sleep(2 * time.Second)
		defer slowDemand(t, p, func() eviction.Request { return of("slow") })()
		time.Sleep(time.Second)
		synctest.Wait()
		if n := f.count(); n != 4 { // at once, and 200 and 600 ms later
			t.Errorf("%d calls, want three probes after the first", n)
		}
	})
}
