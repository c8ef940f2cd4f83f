package journal

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/faketime"
)

// Other processes read the record, with other clocks: it must hold what this host's clock would have shown.
func TestARecordedTimeMovesWithTheWallClock(t *testing.T) {
	const hour = time.Hour
	now := time.Date(2026, 1, 1, 12, 0, 0, 500, time.UTC)
	shown := now.Add(-hour) // by the clock as it was set then
	for _, c := range []struct {
		name string
		age  time.Duration // by the monotonic clock
		want time.Time
	}{
		{"the clock was not set", hour, shown},
		{"its two clocks were read one after the other", hour - time.Millisecond, shown},
		{"it was set back a little, which makes nothing older", hour + 100*time.Millisecond, shown},
		{"it was set forward a little", hour - 100*time.Millisecond, time.Date(2026, 1, 1, 11, 0, 1, 0, time.UTC)},
		{"it was set forward by an hour", 0, time.Date(2026, 1, 1, 12, 0, 1, 0, time.UTC)},
		{"it was set back by an hour", 2 * hour, time.Date(2026, 1, 1, 10, 0, 1, 0, time.UTC)},
		{"the reading differs by nanoseconds", 2*hour + 7, time.Date(2026, 1, 1, 10, 0, 1, 0, time.UTC)},
	} {
		if got := wallTime(faketime.Of(shown, 0), faketime.Of(now, c.age)); !got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Times from before the clock was set are rounded up; later ones are not.
func TestARecordKeepsTheOrderOfStatesBetweenWhichTheClockWasSet(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(setBy, passed time.Duration) time.Time { return faketime.Of(noon.Add(setBy+passed), passed) }
	const hour = time.Hour
	history := taint.History{
		{Taint: v1.Taint{Key: "load", Value: "1", Effect: v1.TaintEffectNoExecute}, Since: at(0, 100*time.Millisecond), Ended: true},
		{Taint: v1.Taint{Key: "load", Value: "2", Effect: v1.TaintEffectNoExecute}, Since: at(0, 300*time.Millisecond), Ended: true},
		{Taint: v1.Taint{Key: "load", Value: "3", Effect: v1.TaintEffectNoExecute}, Since: at(-hour, 500*time.Millisecond), Ended: true},
		{Taint: v1.Taint{Key: "load", Value: "4", Effect: v1.TaintEffectNoExecute}, Since: at(-hour, 1500*time.Millisecond)},
	}
	history[0].Relisted = at(0, 200*time.Millisecond)
	recorded := RecordOf(&taint.Node{Taints: []taint.History{history}}, at(-hour, 2*time.Second)).Taints[0]
	if got := recorded[0].Relisted; !got.Equal(noon.Add(time.Second - hour)) {
		t.Errorf("the first state was listed at %v", got)
	}
	for i, want := range []time.Duration{time.Second, time.Second, time.Second, 1500 * time.Millisecond} {
		if got := recorded[i].Since; !got.Equal(noon.Add(want - hour)) {
			t.Errorf("state %d counts from %v, want %v", i, got, noon.Add(want-hour))
		}
	}
}
