package skew

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The clocks of writer and reader are wrong by any time, and each knows that to within a second and a half.
func TestNoClockMakesATimeThatLeavesOneProcessAndEntersAnotherOlder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	hours := func() time.Duration { return time.Duration(r.Int64N(int64(4*time.Hour))) - 2*time.Hour }
	for range 100_000 {
		began, written, read := 10*r.Float64(), 10+10*r.Float64(), 30+10*r.Float64()
		writer, reader := hours(), hours()
		at := func(seconds float64, ahead time.Duration) Instant {
			known := time.Duration(r.Int64N(int64(1500 * time.Millisecond)))
			return Instant{local(seconds, ahead), ahead - known, ahead - known + 1500*time.Millisecond}
		}
		now := at(written, writer)
		truth, start := duration(read-began), now.Late(local(began, writer))
		if age := local(read, reader).Sub(at(read, reader).ToLocal(start)); age > truth {
			t.Fatalf("an age of %v counts as %v; the clocks are ahead by %v and %v", truth, age, writer, reader)
		}
		if early := now.Early(local(began, writer)); early.After(noon.Add(duration(began))) {
			t.Fatalf("%v is recorded as %v", duration(began), early.Sub(noon))
		}
	}
}

func TestTimesOfTheAPIEnterWithTheSmallerAge(t *testing.T) {
	for _, c := range []struct {
		name        string
		ahead       time.Duration
		least, most time.Duration
		time        time.Time
		want        time.Duration // the age
	}{
		{"clocks in step", 0, 0, 0, noon.Add(10 * time.Second), 50 * time.Second},
		{"ahead by an hour", time.Hour, time.Hour, time.Hour, noon.Add(10 * time.Second), 50 * time.Second},
		{"ahead by a little", 0, -time.Second, time.Second, noon.Add(10 * time.Second), 49 * time.Second},
		{"behind by a little", -20 * time.Second, -20 * time.Second, -20 * time.Second, noon.Add(10 * time.Second), 30 * time.Second},
		{"behind by an hour", -time.Hour, -time.Hour, -time.Hour, noon.Add(10 * time.Second), 0},
		{"in the future", 0, 0, 0, noon.Add(time.Hour), 0},
		{"in the far future", 0, 0, 0, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 0},
	} {
		now := Instant{local(60, c.ahead), c.least, c.most}
		if got := now.Sub(now.ToLocal(c.time)); got != c.want {
			t.Errorf("%s: an age of %v, want %v", c.name, got, c.want)
		}
	}
	now := Instant{Time: local(60, 0)}
	if got := now.Sub(now.Timestamp(noon.Add(10 * time.Second))); got != 49*time.Second {
		t.Errorf("a timestamp counts from %v ago, not from the next second", got)
	}
	if got := now.Timestamp(time.Time{}); !got.Equal(now.Time) {
		t.Errorf("a missing one counts from %v", got)
	}
}
