package answer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

func TestTimesAreRelativeToTheMoment(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { moment := noon.Add(d); return &moment }
	for _, c := range []struct {
		prediction foresight.Prediction
		when, abs  string
	}{
		{foresight.Prediction{}, "stays", ""},
		{foresight.Prediction{Evict: true, At: at(0)}, "now", "2026-05-01T12:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(-time.Hour)}, "now", "2026-05-01T11:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(5 * time.Minute)}, "in 5m0s", "2026-05-01T12:05:00Z"},
		{foresight.Prediction{Evict: true, At: at(1400 * time.Millisecond)}, "in 1s", "2026-05-01T12:00:01.4Z"},
		{foresight.Prediction{Evict: true, At: at(95 * time.Hour)}, "in 95h0m0s", "2026-05-05T11:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(97 * time.Hour)}, "in 4 days", "2026-05-05T13:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(time.Minute), Earliest: at(-time.Minute)}, "within 1m0s", "2026-05-01T11:59:00Z to 2026-05-01T12:01:00Z"},
		{foresight.Prediction{Evict: true, At: at(0), Earliest: at(-time.Minute)}, "now", "2026-05-01T11:59:00Z to 2026-05-01T12:00:00Z"},
	} {
		if got, abs := When(&c.prediction, noon), Stamp(&c.prediction); got != c.when || abs != c.abs {
			t.Errorf("%+v: got %q, %q, want %q, %q", c.prediction, got, abs, c.when, c.abs)
		}
	}
	if got := Lasting(noon, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)); got != "2547080 days" {
		t.Errorf("far away: got %q", got)
	}
}

func TestTheMomentOfAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(700 * time.Millisecond)
		now := time.Now().Add(-700 * time.Millisecond)
		for given, want := range map[string]time.Time{"": {}, "now": now, "+1h": now.Add(time.Hour), "-90s": now.Add(-90 * time.Second)} {
			if got, err := Moment(given); err != nil || !got.Equal(want) {
				t.Errorf("%q: got %v, %v, want %v", given, got, err, want)
			}
		}
	})
	if got, err := Moment("2026-05-01T12:00:00+02:00"); err != nil || got.UTC().Hour() != 10 {
		t.Errorf("given: got %v, %v", got, err)
	}
	for _, wrong := range []string{"noon", "+", "1h", "+1x"} {
		if _, err := Moment(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
