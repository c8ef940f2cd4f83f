package skew

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/faketime"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// local returns a moment of the process, this many seconds after its start, with its wall clock this far ahead.
func local(seconds float64, ahead time.Duration) time.Time {
	d := duration(seconds)
	return faketime.Of(noon.Add(d+ahead), d)
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// answer is one response: the Date in seconds after noon, and when it was requested and received.
type answer struct{ date, sent, received float64 }

func measured(ahead time.Duration, answers ...answer) (i Interval) {
	for _, a := range answers {
		i = i.Answered(noon.Add(duration(a.date)), local(a.sent, ahead), local(a.received, ahead))
	}
	return i
}

func TestIntervalsOfAnswersAreIntersected(t *testing.T) {
	for _, c := range []struct {
		name        string
		ahead       time.Duration
		answers     []answer
		least, most float64
	}{
		{"no answer", time.Hour, nil, 0, 0},
		{"one answer, clocks in step", 0, []answer{{10, 10.4, 10.5}}, -0.6, 0.5},
		{"one that took its time", 0, []answer{{10, 7, 10.5}}, -4, 0.5},
		{"two in different parts of the second", 0, []answer{{10, 10.4, 10.5}, {11, 11.1, 11.125}}, -0.6, 0.125},
		{"one before the second turns, one after", 0, []answer{{10, 10.875, 10.9375}, {11, 11.0625, 11.125}}, -0.125, 0.125},
		{"ahead by 90 s", 90 * time.Second, []answer{{10, 10.4, 10.5}, {11, 11.1, 11.125}}, 89.4, 90.125},
		{"behind by 90 s", -90 * time.Second, []answer{{10, 10.4, 10.5}}, -90.6, -89.5},
		{"ahead by less than the tolerance", 1500 * time.Millisecond, []answer{{10, 10.4, 10.5}, {11, 11.1, 11.125}}, 0.9, 1.625},
		{"perhaps ahead by more: later, never earlier", 1500 * time.Millisecond, []answer{{10, 10.4, 10.75}}, 0.9, 2.25},
		{"servers with different clocks", 0, []answer{{10, 10.4, 10.5}, {5, 11, 11.25}}, -0.6, 6.25},
	} {
		i := measured(c.ahead, c.answers...)
		now := local(100, c.ahead)
		least, most := i.Ahead(now)
		if least != duration(c.least) || most != duration(c.most) {
			t.Errorf("%s: ahead by %v to %v; want %v to %v s", c.name, least, most, c.least, c.most)
		}
	}
}

func TestAClockThatIsSetIsAheadByAnotherTime(t *testing.T) {
	i := measured(time.Hour, answer{10, 10.4, 10.5})
	for _, ahead := range []time.Duration{time.Hour, 0, 2 * time.Hour} {
		if _, most := i.Ahead(local(60, ahead)); most != ahead+500*time.Millisecond {
			t.Errorf("set to %v: ahead by %v at most", ahead, most)
		}
	}
}

func TestTheTruthIsAlwaysWithinTheBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		ahead := time.Duration(r.Int64N(int64(4*time.Hour))) - 2*time.Hour
		var i Interval
		at := 0.0
		for range 1 + r.IntN(6) {
			sent := at + r.Float64()
			served := sent + r.Float64()*r.Float64()
			at = served + r.Float64()*r.Float64()
			i = i.Answered(noon.Add(duration(served)).Truncate(time.Second), local(sent, ahead), local(at, ahead))
		}
		now := local(at+r.Float64()*1000, ahead)
		least, most := i.Ahead(now)
		if ahead < least || ahead > most {
			t.Fatalf("ahead by %v; got %v to %v", ahead, least, most)
		}
	}
}
