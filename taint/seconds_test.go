package taint_test

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

func TestSecondsThatNoDurationHolds(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 7, time.UTC)
	for _, c := range []struct {
		seconds int64
		at      time.Time
		brief   string
	}{
		{300, start.Add(5 * time.Minute), "5m"},
		{-60, start.Add(-time.Minute), "-1m"},
		{18446744074, time.Date(2610, 7, 22, 23, 34, 34, 7, time.UTC), "18446744074s"}, // more than 2^64 ns
		{-18446744074, time.Date(1441, 6, 13, 0, 25, 26, 7, time.UTC), "-18446744074s"},
	} {
		if at := taint.AddSeconds(start, c.seconds); !at.Equal(c.at) {
			t.Errorf("%d seconds: got %v, want %v", c.seconds, at, c.at)
		}
		if brief := taint.BriefSeconds(c.seconds); brief != c.brief {
			t.Errorf("got %s, want %s", brief, c.brief)
		}
	}
}
