package evict

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNoPaceIsNoLimit(t *testing.T) {
	p := newRateLimit(0)
	for range 1000 {
		if wait := p.wait(epoch); wait > 0 {
			t.Fatalf("wait %v", wait)
		}
	}
}

// A low rate is strict: at five calls a second, two are never less than a fifth of a second apart, except for the
// slack.
func TestCallsAreSpreadEvenly(t *testing.T) {
	p, now := newRateLimit(5), epoch
	for range 20 {
		p.take(now)
		wait := p.wait(now)
		if wait > 200*time.Millisecond || wait < 200*time.Millisecond-rateSlack {
			t.Fatalf("wait %v, want a fifth of a second", wait)
		}
		now = now.Add(wait)
	}
}

// Whatever the calls' timing, no span holds more of them than the rate allows.
func TestNoSpanHoldsMoreThanItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(.5, 1000).Draw(t, "rate")
		p, now := newRateLimit(rate), epoch
		var starts []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(max(p.wait(now), 0) + time.Duration(rapid.Int64Range(0, int64(50*time.Millisecond)).Draw(t, "idle")))
			p.take(now)
			starts = append(starts, now)
		}
		for i := range starts {
			for j := i; j < len(starts); j++ {
				span := (starts[j].Sub(starts[i]) + rateSlack).Seconds()
				if n := float64(j - i + 1); n > rate*span*1.000001+1 {
					t.Fatalf("%v calls in %v s at %v a second", n, span, rate)
				}
			}
		}
	})
}

// Timers that are late do not lower the rate, as long as they are late by less than the slack.
func TestLateTimersKeepTheRate(t *testing.T) {
	p, now := newRateLimit(1000), epoch
	calls := 0
	for now.Before(epoch.Add(time.Second)) {
		for p.wait(now) <= 0 {
			p.take(now)
			calls++
		}
		now = now.Add(p.wait(now) + 3*time.Millisecond)
	}
	if calls < 990 || calls > 1021 {
		t.Errorf("%d calls in a second, want about 1000", calls)
	}
}
