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
		{foresight.Prediction{Evict: true, At: at(-time.Hour)}, "1h ago", "2026-05-01T11:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(5 * time.Minute)}, "in 5m", "2026-05-01T12:05:00Z"},
		{foresight.Prediction{Evict: true, At: at(-400 * time.Millisecond)}, "now", "2026-05-01T11:59:59.6Z"},
		{foresight.Prediction{Evict: true, At: at(time.Hour + 5*time.Minute)}, "in 1h5m", "2026-05-01T13:05:00Z"},
		{foresight.Prediction{HeldBy: "policy p", HeldDeadline: at(time.Minute)}, "held", "2026-05-01T12:01:00Z"},
		{foresight.Prediction{Evict: true, At: at(1400 * time.Millisecond)}, "in 1s", "2026-05-01T12:00:01.4Z"},
		{foresight.Prediction{Evict: true, At: at(95 * time.Hour)}, "in 95h", "2026-05-05T11:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(97 * time.Hour)}, "in 4 days", "2026-05-05T13:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(time.Minute), Earliest: at(-time.Minute)}, "within 1m", "by 2026-05-01T12:01:00Z"},
		{foresight.Prediction{Evict: true, At: at(time.Hour), Earliest: at(time.Minute)}, "within 1h", "2026-05-01T12:01:00Z to 2026-05-01T13:00:00Z"},
		{foresight.Prediction{Evict: true, At: at(0), Earliest: at(-time.Minute)}, "now", "by 2026-05-01T12:00:00Z"},
	} {
		if got, abs := When(&c.prediction, noon), Stamp(&c.prediction, noon); got != c.when || abs != c.abs {
			t.Errorf("%+v: got %q, %q, want %q, %q", c.prediction, got, abs, c.when, c.abs)
		}
	}
	if got := Lasting(noon, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)); got != "2547080 days" {
		t.Errorf("far away: got %q", got)
	}
}

func TestTheShortReasonSaysWhyAndAfterHowLong(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { moment := noon.Add(d); return &moment }
	minute := foresight.Prediction{Evict: true, ExposedSince: at(0), At: at(time.Minute)}
	with := func(change func(*foresight.Prediction)) *foresight.Prediction {
		changed := minute
		change(&changed)
		return &changed
	}
	for want, prediction := range map[string]*foresight.Prediction{
		"":                 {},
		"not tolerated":    with(func(p *foresight.Prediction) { p.At = at(0) }),
		"tolerated for 0s": with(func(p *foresight.Prediction) { p.At, p.Toleration = at(0), "disk op=Exists" }),
		"tolerated for 1m": with(func(p *foresight.Prediction) { p.Toleration = "disk op=Exists" }),
		"evicted after 1m": &minute, // as a manager tells no tolerations
		"policy drain: evicted after 1m; if refused, deleted in 1h30m": with(func(p *foresight.Prediction) {
			p.Policy, p.Toleration, p.DeleteAt = "drain", "disk op=Exists", at(90*time.Minute)
		}),
		"policy drain: evicted after 1m; if refused, deleted now": with(func(p *foresight.Prediction) { p.Policy, p.DeleteAt = "drain", at(-50*time.Minute) }),
		"held by breaker outage, otherwise evicted after 1m": with(func(p *foresight.Prediction) {
			p.Evict, p.At, p.HeldBy, p.HeldDeadline = false, nil, "breaker outage", at(time.Minute)
		}),
	} {
		if got := ShortReason(prediction, noon); got != want {
			t.Errorf("%+v: got %q, want %q", prediction, got, want)
		}
	}
}

func TestTheMomentOfAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(700 * time.Millisecond)
		now := time.Now().Add(-700 * time.Millisecond)
		for given, want := range map[string]foresight.Moment{"": {}, "now": {At: now}, "+1h": {After: time.Hour}, "-90s": {After: -90 * time.Second}} {
			if got, err := Moment(given); err != nil || got != want {
				t.Errorf("%q: got %v, %v, want %v", given, got, err, want)
			}
		}
	})
	if got, err := Moment("2026-05-01T12:00:00+02:00"); err != nil || got.At.UTC().Hour() != 10 {
		t.Errorf("given: got %v, %v", got, err)
	}
	for _, wrong := range []string{"noon", "+", "1h", "+1x"} {
		if _, err := Moment(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
