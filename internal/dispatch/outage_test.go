package dispatch

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

var (
	unreachable = eviction.Outcome{Kind: eviction.Unavailable, NothingDeleted: true}
	epoch       = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// paused returns an outage that has begun at epoch, whose pauses have their whole length.
func paused() *outage { return outageWith(1) }

// outageWith returns an outage that has begun at epoch, with that jitter.
func outageWith(jitter float64) *outage {
	b := &outage{jitter: func() float64 { return jitter }}
	b.called(epoch, "n", epoch, &unreachable)
	return b
}

func TestPausesDoubleFromATenthOfASecondToThirtySeconds(t *testing.T) {
	b := paused()
	for i, seconds := range []float64{.1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30} {
		if got := b.until.Sub(b.since).Seconds(); got != seconds {
			t.Errorf("pause %d lasts %v s, want %v", i, got, seconds)
		}
		b.called(b.until, "n", b.until, &unreachable)
	}
}

func TestNoWaitFollowsNoFailure(t *testing.T) {
	if got := OutagePauses().Wait(0, 1); got != 0 {
		t.Errorf("got %v", got)
	}
}

func TestAPauseIsHalfToAllOfItsLength(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 50 * time.Millisecond, .5: 75 * time.Millisecond, 1: 100 * time.Millisecond} {
		if got := outageWith(jitter).until.Sub(epoch); got != want {
			t.Errorf("jitter %v: %v, want %v", jitter, got, want)
		}
	}
}

// Times are in milliseconds since the begin of a pause of 100 ms.
func TestWhatEndsAPauseAndWhatLengthensIt(t *testing.T) {
	at := func(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }
	interrupted, unsent := eviction.Outcome{Kind: eviction.Interrupted}, eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseClient}
	type event func(b *outage)
	called := func(started, ended int, o eviction.Outcome) event {
		return func(b *outage) { b.called(at(ended), "n", at(started), &o) }
	}
	read := func(sent, answered int, o eviction.Outcome) event {
		return func(b *outage) { b.nodeRead(at(answered), "n", at(sent), &o) }
	}
	watched := func(ms int) event { return func(b *outage) { b.nudge(at(ms)) } }
	probeFails := called(100, 110, unreachable)
	for name, c := range map[string]struct {
		events []event
		until  int // the end of the pause; 0: it has ended
	}{
		"a call from before fails":                         {[]event{called(-10, 50, unreachable)}, 100},
		"the probe fails":                                  {[]event{probeFails}, 310},
		"the probe has no answer in its time":              {[]event{called(100, 110, timesOut)}, 310},
		"a call from before has no answer in its time":     {[]event{called(-10, 50, timesOut)}, 100},
		"the probe fails, and then a call from before":     {[]event{probeFails, called(-10, 320, unreachable)}, 310},
		"the probe fails at its GET, and then as a call":   {[]event{read(101, 110, unreachable), called(100, 111, unreachable)}, 310},
		"the probe has an answer":                          {[]event{called(100, 110, fails)}, 0},
		"a call from before has an answer":                 {[]event{called(-10, 50, succeeds)}, 0},
		"an answer, and a new outage":                      {[]event{probeFails, called(310, 320, succeeds), called(320, 500, unreachable)}, 600},
		"a call is cut":                                    {[]event{called(-10, 50, interrupted)}, 100},
		"a GET from before is answered":                    {[]event{read(-1, 50, succeeds)}, 100},
		"a GET from the pause is answered":                 {[]event{read(1, 50, succeeds)}, 0},
		"a GET from the pause is answered with a failure":  {[]event{read(1, 50, fails)}, 0},
		"a GET from the pause is answered with a refusal":  {[]event{read(1, 50, eviction.Outcome{Kind: eviction.Refused})}, 0},
		"a GET from the pause is cut":                      {[]event{read(1, 50, interrupted)}, 100},
		"a GET from the pause fails":                       {[]event{read(10, 20, unreachable)}, 100},
		"a GET from the pause has no answer in its time":   {[]event{read(10, 99, timesOut)}, 100},
		"a GET from after the pause fails":                 {[]event{read(100, 110, unreachable)}, 310},
		"a GET from after the pause could not be sent":     {[]event{read(100, 110, unsent)}, 310},
		"a GET from after the pause has no answer":         {[]event{read(100, 110, timesOut)}, 310},
		"the server answers a watch":                       {[]event{watched(10)}, 100},
		"the server answers a watch after the next probe":  {[]event{probeFails, watched(120)}, 210},
		"the server answers watches, and the probe fails":  {[]event{probeFails, watched(120), called(210, 210, unreachable)}, 410},
		"the server answers a watch late in a long pause":  {[]event{probeFails, watched(250)}, 250},
		"an answer, and then a GET without one":            {[]event{called(-10, 10, succeeds), read(40, 50, timesOut)}, 0},
		"an answer, and then a GET that fails":             {[]event{called(-10, 10, succeeds), read(40, 50, unreachable)}, 150},
		"an answer, and then the server answers a watch":   {[]event{called(-10, 10, succeeds), watched(50)}, 0},
		"an answer, and then a GET that the server denies": {[]event{called(-10, 10, succeeds), read(40, 50, fails)}, 0},
	} {
		b := paused()
		for _, happens := range c.events {
			happens(b)
		}
		if on := b.on(); on != (c.until > 0) || on && !b.until.Equal(at(c.until)) {
			t.Errorf("%s: paused %v until %v, want %d ms", name, on, b.until.Sub(epoch), c.until)
		}
	}
}

// wholePauses lets pauses have their whole length.
func (u *user) wholePauses() *user {
	u.core.outage.jitter = func() float64 { return 1 }
	return u
}

// probes answers the first calls with an outage, and each further one by a function.
func probes(first int32, further evictor) evictor {
	var n atomic.Int32
	return func(ctx context.Context) eviction.Outcome {
		if n.Add(1) <= first {
			return unreachable
		}
		return further(ctx)
	}
}

func TestWhatAProbeShows(t *testing.T) {
	never := func(d time.Duration, o eviction.Outcome) evictor {
		return func(context.Context) eviction.Outcome { time.Sleep(d); return o }
	}
	ms := func(all ...int) (list []time.Duration) {
		for _, n := range all {
			list = append(list, time.Duration(n)*time.Millisecond)
		}
		return list
	}
	for name, c := range map[string]struct {
		evictor evictor
		begins  []time.Duration // of the calls in the first 40 s, of which the first begins the pause
	}{
		"the server is away":  {always(unreachable), ms(0, 100, 300, 700, 1500, 3100, 6300, 12700, 25500)},
		"no answer in time":   {probes(1, never(35*time.Second, timesOut)), ms(0, 100, 35_300)},
		"it is cut":           {probes(1, never(15*time.Second, eviction.Outcome{Kind: eviction.Interrupted})), ms(0, 100, 15_100, 30_100)},
		"an answer that ends": {probes(2, never(15*time.Second, succeeds)), ms(0, 100, 300, 15_300, 30_300)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := noting(c.evictor)
				u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 1}, Evictor: n}).wholePauses().demand(1)
				defer u.lead()()
				time.Sleep(40 * time.Second)
				if got := n.begins(); !slices.Equal(got, c.begins) {
					t.Errorf("calls at %v, want %v", got, c.begins)
				}
			})
		})
	}
}

func TestCallsFromBeforeAPauseDoNotLengthenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		n := noting(evictor(func(context.Context) eviction.Outcome {
			time.Sleep(500*time.Millisecond + time.Duration(calls.Add(1))*time.Millisecond) // they fail one after the other
			return unreachable
		}))
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 4}, Evictor: n}).wholePauses().demand(4)
		defer u.lead()()
		time.Sleep(620 * time.Millisecond)
		if got := n.begins(); len(got) != 5 || got[4] != 601*time.Millisecond {
			t.Errorf("calls at %v, want the fifth 100 ms after the first failure", got)
		}
	})
}

func TestAnswersOfWatchesSendProbesButNoMoreThanTenASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := noting(always(unreachable))
		u := newUser(t, Options{Evictor: n}).wholePauses().demand(40)
		defer u.lead()()
		time.Sleep(70 * time.Second) // in the midst of a pause of 30 s
		before := len(n.begins())
		u.ServerAnswered()
		if got := len(n.begins()) - before; got != 1 {
			t.Errorf("%d calls, want a probe at once", got)
		}
		for range 10_000 {
			time.Sleep(time.Millisecond)
			u.ServerAnswered()
		}
		if got := len(n.begins()) - before; got < 99 || got > 102 {
			t.Errorf("%d probes in 10 s", got)
		}
	})
}

func TestAProbeIsSentWhileAllPlacesAreTaken(t *testing.T) {
	w := newWorld()
	for i := range 200 {
		w.pod(fmt.Sprint(i), 0, 0, after(time.Hour, succeeds))
	}
	probed := false
	w.at(w.after(5000), func() { w.step(NodeRead{"n", w.now, unreachable}) })
	w.at(w.after(5500), func() { probed = !w.core.outage.on() })
	w.run([]*evicted{{}}, 6*time.Second)
	if got := w.core.InFlight(); got != 3*32 || !probed {
		t.Errorf("%d calls are in flight, the server was probed: %v", got, probed)
	}
}

func TestADeletionThatTimesOutPausesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 4}, Evictor: evictor(func(context.Context) eviction.Outcome {
			time.Sleep(34 * time.Second)
			return timesOut
		})}).demand(20)
		defer u.lead()()
		time.Sleep(36 * time.Second)
		synctest.Wait()
		if !u.PausedSince().IsZero() || u.InFlight() != 12 {
			t.Errorf("paused since %v, %d in flight", u.PausedSince(), u.InFlight())
		}
	})
}

func TestALoadedServerHoldsAllCallsBack(t *testing.T) {
	for _, c := range []struct{ asked, want time.Duration }{
		{7 * time.Second, 7 * time.Second},
		{0, time.Second},
		{24 * time.Hour, time.Minute},
	} {
		t.Run(fmt.Sprint(c.asked), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := noting(always(eviction.Outcome{Kind: eviction.Throttled, RetryAfter: c.asked}))
				u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 1}, Evictor: n}).demand(4)
				defer u.lead()()
				time.Sleep(c.want - 1)
				u.ServerAnswered() // does not cut a wait that the server asked for
				if got := n.begins(); len(got) != 1 || u.first().RetryAfter != c.want {
					t.Errorf("calls at %v within the wait, the first outcome is %+v", got, u.first())
				}
				time.Sleep(time.Nanosecond)
				if got := n.begins(); len(got) != 2 {
					t.Errorf("calls at %v, want another after the wait", got)
				}
			})
		})
	}
}
