package evict

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeEvictor answers by a function, and notes when each call began.
type fakeEvictor struct {
	answer func(ctx context.Context, n int) eviction.Outcome

	mu      sync.Mutex
	began   []time.Time
	running int
	most    int
}

func (f *fakeEvictor) Evict(ctx context.Context, _ eviction.Request) eviction.Outcome {
	f.mu.Lock()
	n := len(f.began)
	f.began = append(f.began, time.Now())
	f.running++
	f.most = max(f.most, f.running)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	return f.answer(ctx, n)
}

// begins returns the calls' starts in time since the first of them.
func (f *fakeEvictor) begins() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var since []time.Duration
	for _, at := range f.began {
		since = append(since, at.Sub(f.began[0]))
	}
	return since
}

func (f *fakeEvictor) count() int { return len(f.begins()) }

// always answers at once.
func always(o eviction.Outcome) *fakeEvictor {
	return &fakeEvictor{answer: func(context.Context, int) eviction.Outcome { return o }}
}

// lasting answers after a while, or when cut.
func lasting(d time.Duration) *fakeEvictor {
	return &fakeEvictor{answer: func(ctx context.Context, _ int) eviction.Outcome {
		select {
		case <-time.After(d):
			return eviction.Outcome{Kind: eviction.Accepted}
		case <-ctx.Done():
			return eviction.Outcome{Kind: eviction.Interrupted}
		}
	}}
}

// lead starts Lead and returns how to end it and wait for its return.
func lead(t *testing.T, p *Pool) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	returned := make(chan error, 1)
	go func() { returned <- p.Lead(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		if err := <-returned; err != nil {
			t.Errorf("Lead: %v", err)
		}
	}
}

// demand starts a call with every permit it gets until the test ends, and keeps the outcomes.
func demand(t *testing.T, p *Pool) *outcomes { return demandFor(t, p, someRequest) }

// demandFor returns demand for these evictions.
func demandFor(t *testing.T, p *Pool, next func() eviction.Request) *outcomes {
	ctx, cancel := context.WithCancel(t.Context())
	o := &outcomes{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case g := <-p.Permits():
				g.Start(next(), o.add)
			}
		}
	}()
	o.stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(o.stop)
	return o
}

type outcomes struct {
	mu   sync.Mutex
	all  []eviction.Outcome
	stop func()
}

func (o *outcomes) add(one eviction.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, one)
}

func (o *outcomes) kinds() []eviction.Kind {
	o.mu.Lock()
	defer o.mu.Unlock()
	var kinds []eviction.Kind
	for _, one := range o.all {
		kinds = append(kinds, one.Kind)
	}
	return kinds
}

func permitted(p *Pool) bool { return offered(p.Permits()) }

// offered reports whether a permit is offered now.
func offered(permits <-chan shard.Permit) bool {
	synctest.Wait()
	select {
	case g := <-permits:
		g.Release()
		return true
	default:
		return false
	}
}

func TestNothingIsGrantedWithoutLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted})})
		if permitted(p) {
			t.Error("permitted before Lead")
		}
		end := lead(t, p)
		if !permitted(p) || p.InFlight() != 0 {
			t.Error("not permitted while leading, or an unused permit counts as a call")
		}
		end()
		if permitted(p) {
			t.Error("permitted after Lead")
		}
	})
}

func TestAsManyCallsRunAsThereAreWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lasting(900 * time.Millisecond)
		p := NewPool(PoolOptions{Evictor: f, Workers: 4})
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(2250 * time.Millisecond)
		synctest.Wait()
		if f.most != 4 || f.count() != 12 || p.InFlight() != 4 {
			t.Errorf("at most %d at once, %d in all, %d now, want 4, 12 and 4", f.most, f.count(), p.InFlight())
		}
	})
}

func TestWaitersAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: lasting(900 * time.Millisecond), Workers: 1})
		defer lead(t, p)()
		order := make(chan int, 5)
		var group sync.WaitGroup
		for i := range 5 {
			group.Go(func() {
				g := <-p.Permits() // one slot: the next permit comes a second later
				order <- i
				g.Start(someRequest(), func(eviction.Outcome) {})
			})
			synctest.Wait()
		}
		group.Wait()
		for want := range 5 {
			if got := <-order; got != want {
				t.Errorf("waiter %d was served before %d", got, want)
			}
		}
	})
}

func TestTheSlotIsFreeWhenTheOutcomeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Workers: 1})
		defer lead(t, p)()
		told := make(chan bool)
		(<-p.Permits()).Start(someRequest(), func(eviction.Outcome) {
			_, ok := <-p.Permits()
			told <- ok
		})
		if !<-told {
			t.Error("no permit inside done")
		}
	})
}

func TestAnUnusedGrantGivesItsSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Workers: 1})
		defer lead(t, p)()
		g := <-p.Permits()
		if permitted(p) {
			t.Error("two permits for one slot")
		}
		g.Release()
		g.Release() // does nothing
		if !permitted(p) {
			t.Error("no permit after Release")
		}
		synctest.Wait()
		if p.limiter.freeSlots()+p.limiter.reservedSlots != 1 {
			t.Errorf("limiter %+v, want one slot", p.limiter)
		}
	})
}

func TestAGrantStartsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted})})
		defer lead(t, p)()
		g := <-p.Permits()
		g.Release()
		defer func() {
			if recover() == nil {
				t.Error("the second use did not panic")
			}
		}()
		g.Start(someRequest(), func(eviction.Outcome) {})
	})
}

func TestReleasedGrantsDoNotUseUpTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Accepted})
		p := NewPool(PoolOptions{Evictor: f, Rate: 2})
		defer lead(t, p)()
		start := time.Now()
		for range 100 {
			(<-p.Permits()).Release()
		}
		(<-p.Permits()).Start(someRequest(), func(eviction.Outcome) {})
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the first call waited %v", waited)
		}
	})
}

func TestTheRateSpreadsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Accepted})
		p := NewPool(PoolOptions{Evictor: f, Rate: 2})
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := f.count(); n < 20 || n > 22 {
			t.Errorf("%d calls in 10 s at 2 a second", n)
		}
	})
}

func TestThePoolSaysWhenTheRateOfAllCallsIsWhatDelaysThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Accepted})
		p := NewPool(PoolOptions{Evictor: f, Rate: 0.5})
		want := func(when string, limited bool) {
			t.Helper()
			if got := p.LimitedByRate(); got != limited {
				t.Errorf("%s: limited by the rate: %v, want %v", when, got, limited)
			}
		}
		call := func(o eviction.Outcome) {
			f.answer = func(context.Context, int) eviction.Outcome { return o }
			done := make(chan eviction.Outcome, 1)
			(<-p.Permits()).Start(someRequest(), func(o eviction.Outcome) { done <- o })
			<-done
		}
		want("a standby", false)
		end := lead(t, p)
		want("before the first call", false)
		call(eviction.Outcome{Kind: eviction.Accepted})
		want("after a call", true)
		p.SetPaused(true)
		want("in a pause", false)
		p.SetPaused(false)
		time.Sleep(2 * time.Second)
		want("once the next call may start", false)
		call(eviction.Outcome{Kind: eviction.Unavailable})
		want("in an outage", false)
		end()
		want("after its leadership", false)
	})
}

func TestTheRateHoldsWhileGrantsAreUndecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Rate: 2})
		defer lead(t, p)()
		g := <-p.Permits()
		if permitted(p) {
			t.Error("permitted beyond the rate")
		}
		g.Release()
		if !permitted(p) {
			t.Error("no permit after Release")
		}
	})
}

func TestCallsEndWithLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lasting(time.Hour)
		p := NewPool(PoolOptions{Evictor: f, Workers: 3})
		end := lead(t, p)
		got := demand(t, p)
		synctest.Wait()
		end()
		want := []eviction.Kind{eviction.Interrupted, eviction.Interrupted, eviction.Interrupted}
		if kinds := got.kinds(); !slices.Equal(kinds, want) {
			t.Errorf("when Lead returned the outcomes were %v, want three interrupted", kinds)
		}
	})
}

func TestAGrantOutlivesItsLeadershipWithoutACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Accepted})
		p := NewPool(PoolOptions{Evictor: f, Workers: 1})
		end := lead(t, p)
		g := <-p.Permits()
		end()
		defer lead(t, p)() // another leadership does not revive it
		var got eviction.Outcome
		g.Start(someRequest(), func(o eviction.Outcome) { got = o })
		synctest.Wait()
		if got.Kind != eviction.Interrupted || f.count() != 0 {
			t.Errorf("outcome %+v after %d calls, want interrupted without a call", got, f.count())
		}
		if !permitted(p) {
			t.Error("the slot is lost")
		}
	})
}

func TestOneLeadAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted})})
		end := lead(t, p)
		if err := p.Lead(t.Context()); err == nil {
			t.Error("a second Lead began")
		}
		end()
		lead(t, p)() // again, after the first has returned
	})
}

func TestACallStartsOnlyIfThisProcessLeadsAtThatMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leads atomic.Bool
		leads.Store(true)
		f := lasting(900 * time.Millisecond)
		p := NewPool(PoolOptions{Evictor: f, Leading: leads.Load})
		defer lead(t, p)()
		leads.Store(false)
		got := demand(t, p)
		defer got.stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if f.count() != 0 || len(got.kinds()) > 2 {
			t.Errorf("%d calls, %d permits while not leading, want none, and no hot loop", f.count(), len(got.kinds()))
		}
		leads.Store(true)
		time.Sleep(leadingPoll)
		synctest.Wait()
		if f.count() == 0 {
			t.Error("no call once leading again")
		}
	})
}

func TestDrainWaitsForCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lasting(3 * time.Second)
		p := NewPool(PoolOptions{Evictor: f, Workers: 2})
		end := lead(t, p)
		got := demand(t, p)
		synctest.Wait()
		start := time.Now()
		if cut := p.Drain(t.Context()); len(cut) != 0 || time.Since(start) != 3*time.Second {
			t.Errorf("drained after %v, %d calls were cut, want none and 3 s", time.Since(start), len(cut))
		}
		if kinds := got.kinds(); !slices.Equal(kinds, []eviction.Kind{eviction.Accepted, eviction.Accepted}) {
			t.Errorf("outcomes %v, want two accepted", kinds)
		}
		time.Sleep(time.Minute)
		if f.count() != 2 {
			t.Errorf("%d calls, want none after Drain", f.count())
		}
		end()
		if err := p.Lead(t.Context()); err == nil {
			t.Error("Lead after Drain began")
		}
	})
}

func TestAGrantFromBeforeDrainMakesNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Accepted})
		p := NewPool(PoolOptions{Evictor: f})
		defer lead(t, p)()
		g := <-p.Permits()
		if cut := p.Drain(t.Context()); len(cut) != 0 {
			t.Errorf("%d calls were cut", len(cut))
		}
		var got eviction.Outcome
		g.Start(someRequest(), func(o eviction.Outcome) { got = o })
		synctest.Wait()
		if got.Kind != eviction.Interrupted || f.count() != 0 {
			t.Errorf("outcome %+v after %d calls, want interrupted without a call", got, f.count())
		}
	})
}

func TestDrainCutsCallsWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: lasting(time.Hour), Workers: 2})
		defer lead(t, p)()
		got := demand(t, p)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		cut := p.Drain(ctx)
		if len(cut) != 2 || cut[0].Pod == nil || time.Since(start) != 10*time.Second {
			t.Errorf("drained after %v, %d calls were cut, want 2 after 10 s", time.Since(start), len(cut))
		}
		if kinds := got.kinds(); !slices.Equal(kinds, []eviction.Kind{eviction.Interrupted, eviction.Interrupted}) {
			t.Errorf("outcomes %v, want two interrupted", kinds)
		}
	})
}

func TestDrainWithoutLeadReturnsAtOnce(t *testing.T) {
	p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted})})
	if cut := append(p.Drain(t.Context()), p.Drain(t.Context())...); len(cut) != 0 {
		t.Errorf("%d calls were cut", len(cut))
	}
}

func TestWhileTheServerIsAwayOneCallProbesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Unavailable})
		p := NewPool(PoolOptions{Evictor: f})
		p.limiter.outage.jitter = func() float64 { return 1 }
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(95 * time.Second)
		synctest.Wait()
		begins := f.begins()
		probes := slices.DeleteFunc(slices.Clone(begins), func(d time.Duration) bool { return d == 0 })
		if first := len(begins) - len(probes); first > 32 {
			t.Errorf("%d calls before the pause began, want no more than slots", first)
		}
		var want []time.Duration
		at := time.Duration(0)
		for _, ms := range []int{100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000} {
			at += time.Duration(ms) * time.Millisecond
			want = append(want, at)
		}
		if !slices.Equal(probes, want) {
			t.Errorf("probes at %v, want %v", probes, want)
		}
	})
}

func TestCallsGoOnWithTheFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(time.Minute)
		f := &fakeEvictor{}
		f.answer = func(ctx context.Context, n int) eviction.Outcome {
			if time.Now().Before(back) {
				return eviction.Outcome{Kind: eviction.Unavailable}
			}
			return lasting(10*time.Second).answer(ctx, n)
		}
		p := NewPool(PoolOptions{Evictor: f, Workers: 8})
		p.limiter.outage.jitter = func() float64 { return 1 }
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(80 * time.Second)
		synctest.Wait()
		before := f.count()
		time.Sleep(2 * time.Second) // the probe of 81.1 s is the first after the server is back
		synctest.Wait()
		if n := f.count() - before; n != 1 {
			t.Fatalf("%d calls, want one probe under way", n)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if f.running != 8 {
			t.Errorf("%d calls under way after the answer, want all 8", f.running)
		}
	})
}

func TestANudgeSendsTheProbeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Unavailable})
		p := NewPool(PoolOptions{Evictor: f})
		p.limiter.outage.jitter = func() float64 { return 1 }
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(70 * time.Second) // in the middle of a pause of 30 s
		synctest.Wait()
		before := f.count()
		p.Nudge()
		synctest.Wait()
		if n := f.count() - before; n != 1 {
			t.Errorf("%d calls after the nudge, want 1", n)
		}
	})
}

func TestNudgesWithoutEndDoNotMakeAHotLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Unavailable})
		p := NewPool(PoolOptions{Evictor: f})
		defer lead(t, p)()
		defer demand(t, p).stop()
		for range 10000 {
			time.Sleep(time.Millisecond)
			p.Nudge()
		}
		if n := f.count(); n > 32+200 {
			t.Errorf("%d calls in 10 s", n)
		}
	})
}

func TestCallsFromBeforeThePauseDoNotLengthenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeEvictor{}
		f.answer = func(_ context.Context, n int) eviction.Outcome {
			time.Sleep(500*time.Millisecond + time.Duration(n)*time.Millisecond) // the first 32 fail one after the other
			return eviction.Outcome{Kind: eviction.Unavailable}
		}
		p := NewPool(PoolOptions{Evictor: f})
		p.limiter.outage.jitter = func() float64 { return 1 }
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(620 * time.Millisecond)
		synctest.Wait()
		begins := f.begins()
		if len(begins) != 33 || begins[32] != 600*time.Millisecond {
			t.Errorf("%d calls, the last at %v, want the 33rd 100 ms after the first failure", len(begins), begins[len(begins)-1])
		}
	})
}

func TestAProbeThatTellsNothingIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeEvictor{}
		f.answer = func(_ context.Context, n int) eviction.Outcome {
			if n == 0 {
				return eviction.Outcome{Kind: eviction.Unavailable}
			}
			panic("broken")
		}
		p := NewPool(PoolOptions{Evictor: f, Workers: 1})
		defer lead(t, p)()
		synctest.Wait()
		for i := range 3 {
			(<-p.Permits()).Start(someRequest(), func(eviction.Outcome) {})
			synctest.Wait()
			if f.count() != i+1 || !p.limiter.outage.on() {
				t.Fatalf("%d calls, pausing %v", f.count(), p.limiter.outage.on())
			}
		}
		(<-p.Permits()).Release()
		if !permitted(p) {
			t.Error("a probe that was released stopped all probes")
		}
	})
}

func TestAProbeThatHangsLengthensThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeEvictor{}
		f.answer = func(_ context.Context, n int) eviction.Outcome {
			if n == 0 {
				return eviction.Outcome{Kind: eviction.Unavailable}
			}
			time.Sleep(35 * time.Second)
			return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseTimeout}
		}
		p := NewPool(PoolOptions{Evictor: f, Workers: 1})
		p.limiter.outage.jitter = func() float64 { return 1 }
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(36 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, 100 * time.Millisecond, 35300 * time.Millisecond}
		if begins := f.begins(); !slices.Equal(begins, want) {
			t.Errorf("calls at %v, want %v", begins, want)
		}
	})
}

func TestALoadedServerHoldsAllCallsBack(t *testing.T) {
	tests := []struct{ asked, want time.Duration }{
		{7 * time.Second, 7 * time.Second},
		{0, time.Second},
		{24 * time.Hour, time.Minute},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.asked), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := always(eviction.Outcome{Kind: eviction.Throttled, RetryAfter: test.asked})
				p := NewPool(PoolOptions{Evictor: f, Workers: 1})
				defer lead(t, p)()
				got := demand(t, p)
				time.Sleep(test.want - 1)
				synctest.Wait()
				if f.count() != 1 {
					t.Errorf("%d calls within the wait, want 1", f.count())
				}
				p.Nudge() // does not cut a wait that the server asked for
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				if f.count() != 2 || got.all[0].RetryAfter != test.want {
					t.Errorf("%d calls after the wait, outcome %+v", f.count(), got.all[0])
				}
				got.stop()
			})
		})
	}
}

func TestAPanicInTheEvictorIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeEvictor{answer: func(context.Context, int) eviction.Outcome { panic("no such thing") }}
		p := NewPool(PoolOptions{Evictor: f, Workers: 1})
		defer lead(t, p)()
		var got eviction.Outcome
		(<-p.Permits()).Start(someRequest(), func(o eviction.Outcome) { got = o })
		synctest.Wait()
		want := eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CausePanic, Message: "the evictor panicked: no such thing"}
		if got != want || !permitted(p) {
			t.Errorf("outcome %+v, want %+v and the slot back", got, want)
		}
	})
}

func TestAnOutcomeOfNoKindIsAFailure(t *testing.T) {
	for _, kind := range []eviction.Kind{0, eviction.Unconfirmed + 1} {
		if got := complete(eviction.Outcome{Kind: kind}); got.Kind != eviction.Failed || got.Message == "" {
			t.Errorf("kind %d: %+v", kind, got)
		}
	}
}

// A pool under load that is led, lost and led again keeps its slots.
func TestNoSlotIsEverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kinds := []eviction.Kind{eviction.Accepted, eviction.Unavailable, eviction.Throttled, eviction.Failed, eviction.Interrupted, 0}
		f := &fakeEvictor{}
		f.answer = func(ctx context.Context, n int) eviction.Outcome {
			lasting(time.Duration(n%7)*100*time.Millisecond).answer(ctx, n)
			if n%11 == 0 {
				panic(n)
			}
			return eviction.Outcome{Kind: kinds[n%len(kinds)]}
		}
		p := NewPool(PoolOptions{Evictor: f, Workers: 5})
		got := demand(t, p)
		for range 20 {
			end := lead(t, p)
			time.Sleep(3 * time.Second)
			end()
		}
		got.stop()
		synctest.Wait()
		if p.limiter.freeSlots() != 5 || p.limiter.unsettled != 0 || p.limiter.InFlight() != 0 || f.most > 5 {
			t.Errorf("limiter %+v, at most %d calls at once, want 5 slots", p.limiter, f.most)
		}
		if len(got.all) < f.count() {
			t.Errorf("%d outcomes of %d calls", len(got.all), f.count())
		}
	})
}

func TestAPausedPoolGrantsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Paused: true})
		ctx, cancel := context.WithCancel(t.Context())
		led := make(chan error)
		go func() { led <- p.Lead(ctx) }()
		select {
		case <-p.Permits():
			t.Error("got a permit")
		case <-time.After(time.Hour):
		}
		p.Nudge()
		cancel()
		if err := <-led; err != nil {
			t.Error(err)
		}
	})
}
