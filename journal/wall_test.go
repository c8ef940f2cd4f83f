package journal

import (
	"testing"
	"time"
)

// What is recorded is read by others, on other clocks: it must say what this host's clock would have shown.
func TestARecordedTimeMovesWithTheWallClock(t *testing.T) {
	const hour = time.Hour
	now := time.Date(2026, 1, 1, 12, 0, 0, 500, time.UTC)
	shown := now.Add(-hour) // by the clock as it went then
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
		if got := wallTime(shown, now, c.age); !got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
