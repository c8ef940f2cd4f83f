package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A low rate is strict: at five calls a second, two are never less than a fifth of a second apart, except for the slack.
func TestCallsAreSpreadEvenly(t *testing.T) {
	p, now := newPace(5), epoch
	for range 20 {
		p.take(now)
		wait := p.next.Sub(now)
		if wait > 200*time.Millisecond || wait < 200*time.Millisecond-paceSlack {
			t.Fatalf("wait %v, want a fifth of a second", wait)
		}
		now = p.next
	}
}

func TestNoPaceIsNoLimit(t *testing.T) {
	for _, perSecond := range []float64{0, -1} {
		p := newPace(perSecond)
		if p != (pace{}) {
			t.Errorf("%v: got %+v", perSecond, p)
		}
		if p.take(epoch); p.next.After(epoch) {
			t.Errorf("%v: the next call waits until %v", perSecond, p.next)
		}
	}
}

// Whatever the calls' timing, no span holds more of them than the rate allows.
func TestNoSpanHoldsMoreThanItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(.5, 1000).Draw(t, "rate")
		p, now := newPace(rate), epoch
		var starts []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = later(now, p.next).Add(time.Duration(rapid.Int64Range(0, int64(50*time.Millisecond)).Draw(t, "idle")))
			p.take(now)
			starts = append(starts, now)
		}
		for i := range starts {
			for j := i; j < len(starts); j++ {
				span := (starts[j].Sub(starts[i]) + paceSlack).Seconds()
				if n := float64(j - i + 1); n > rate*span*1.000001+1 {
					t.Fatalf("%v calls in %v s at %v a second", n, span, rate)
				}
			}
		}
	})
}

func TestLateTimersDoNotLowerThePace(t *testing.T) {
	p, now, calls := newPace(1000), epoch, 0
	for now.Before(epoch.Add(time.Second)) {
		for !p.next.After(now) {
			p.take(now)
			calls++
		}
		now = p.next.Add(3 * time.Millisecond)
	}
	if calls < 990 || calls > 1021 {
		t.Errorf("%d calls in a second, want about 1000", calls)
	}
}

func TestTheLimitOfAllCallsCountsEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := noting(lasting(1500 * time.Millisecond)) // after their first call all namespaces are slow
		u := newUser(t, Options{CoreOptions: CoreOptions{CallsPerSecond: 2}, Evictor: n}).demand(20)
		defer u.lead()()
		time.Sleep(30 * time.Second)
		if got := len(n.begins()); got < 60 || got > 62 {
			t.Errorf("%d calls in 30 s at 2 a second", got)
		}
	})
}
