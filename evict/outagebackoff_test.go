package evict

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

var epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// full returns an outageBackoff whose pauses have their whole length.
func full() *outageBackoff { return &outageBackoff{jitter: func() float64 { return 1 }} }

func TestPausesDoubleFromATenthOfASecondToThirtySeconds(t *testing.T) {
	b, now := full(), epoch
	want := []float64{.1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30}
	for i, seconds := range want {
		b.failed(now, true)
		if got := b.until.Sub(now).Seconds(); got != seconds {
			t.Errorf("pause %d lasts %v s, want %v", i, got, seconds)
		}
		now = b.until
	}
}

func TestAPauseIsHalfToAllOfItsLength(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 50 * time.Millisecond, .5: 75 * time.Millisecond, 1: 100 * time.Millisecond} {
		b := &outageBackoff{jitter: func() float64 { return jitter }}
		b.failed(epoch, false)
		if got := b.until.Sub(epoch); got != want {
			t.Errorf("jitter %v: %v, want %v", jitter, got, want)
		}
	}
}

func TestOnlyTheProbeLengthensThePause(t *testing.T) {
	b := full()
	b.failed(epoch, false)
	for range 31 {
		b.failed(epoch.Add(10*time.Millisecond), false)
	}
	if got := b.until.Sub(epoch); got != firstPause {
		t.Errorf("the pause lasts %v, want %v", got, firstPause)
	}
}

func TestAnAnswerEndsThePauseAndTheNextOneIsShortAgain(t *testing.T) {
	b := full()
	for range 5 {
		b.failed(epoch, true)
	}
	b.answered()
	if ok, _ := b.wait(epoch); !ok {
		t.Error("still waiting after an answer")
	}
	b.failed(epoch, false)
	if got := b.until.Sub(epoch); got != firstPause {
		t.Errorf("the next pause lasts %v, want %v", got, firstPause)
	}
}

func TestANudgeEndsALongPauseButKeepsProbesApart(t *testing.T) {
	b := full()
	for range 10 {
		b.failed(epoch, true)
	}
	if !b.nudge(epoch.Add(time.Millisecond)) {
		t.Error("the nudge did nothing")
	}
	if got := b.until.Sub(epoch); got != firstPause {
		t.Errorf("the next probe comes after %v, want %v after the last", got, firstPause)
	}
	b.nudge(epoch.Add(time.Second))
	if got := b.until.Sub(epoch); got != firstPause {
		t.Errorf("a later nudge moved the probe to %v", got)
	}
}

func TestANudgeWithoutAPauseDoesNothing(t *testing.T) {
	if full().nudge(epoch) {
		t.Error("calls did not pause, and the nudge did something")
	}
}

func TestAGETOfANodeThatWasSentInThePauseEndsIt(t *testing.T) {
	for _, o := range []eviction.Outcome{{Kind: goOn}, {Kind: eviction.Unconfirmed}, {Kind: eviction.Throttled}, {Kind: eviction.Refused}, {Kind: eviction.Failed, Cause: eviction.CauseServer}} {
		b := full()
		b.failed(epoch, false)
		b.nodeRead(epoch.Add(time.Millisecond), epoch.Add(-time.Millisecond), o)
		if !b.on() {
			t.Errorf("%+v: a GET from before the pause ended it", o)
		}
		b.nodeRead(epoch.Add(3*time.Millisecond), epoch.Add(2*time.Millisecond), o)
		if b.on() {
			t.Errorf("%+v: calls still pause", o)
		}
	}
}

func TestAGETOfANodeThatFailsBeginsAPause(t *testing.T) {
	b := full()
	b.nodeRead(epoch, epoch, eviction.Outcome{Kind: eviction.Unavailable})
	if !b.on() {
		t.Error("calls do not pause")
	}
	b = full()
	b.nodeRead(epoch, epoch, eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseTimeout})
	if b.on() {
		t.Error("a GET without an answer in its time began a pause")
	}
}

func TestAGETOfANodeLengthensThePauseOnlyWhenSentAfterIt(t *testing.T) {
	for _, o := range []eviction.Outcome{{Kind: eviction.Unavailable}, {Kind: eviction.Failed, Cause: eviction.CauseTimeout}} {
		b := full()
		b.failed(epoch, false)
		for range 31 {
			b.nodeRead(epoch.Add(20*time.Millisecond), epoch.Add(10*time.Millisecond), o)
		}
		if got := b.until.Sub(epoch); got != firstPause {
			t.Fatalf("%+v: the pause lasts %v, want %v", o, got, firstPause)
		}
		now := b.until
		b.nodeRead(now, now, o)
		if got := b.until.Sub(now); got != 2*firstPause {
			t.Errorf("%+v: the next pause lasts %v, want %v", o, got, 2*firstPause)
		}
	}
}
