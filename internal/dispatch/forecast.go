package dispatch

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Turn is an eviction that may start at this time, but for the rates.
type Turn struct {
	At         time.Time
	TaintKeys  []string          // of the taints because of which the pod goes
	NodeLabels map[string]string // of its node
}

// Forecast is what one limit lets start of a number of evictions.
type Forecast struct {
	Rate      string  // name of the rate; empty for the limit of all calls
	PerSecond float64 // evictions
	Turns     int     // number of evictions that the limit counts, and that start by Last
	Delayed   int     // number of those that it delays
	Last      time.Time
}

// Foresee returns the limit that delays an eviction the longest, and when the last eviction that it delays starts at
// the earliest: each limit is taken alone, its buckets are full at first, and each call succeeds. Delayed is 0 if no
// limit delays an eviction by a second. The turns must be in the order of their times.
func Foresee(turns []Turn, rates []policy.Rate, callsPerSecond float64) (longest Forecast) {
	if len(turns) == 0 {
		return longest
	}
	for i := range rates {
		r := &rates[i]
		full := NewRates(turns[0].At.Add(-refillOf(r).capacity()), rates[i:i+1])
		longest = longest.orLater(foresee(turns, Forecast{Rate: r.Name, PerSecond: r.EvictionsPerSecond}, full.start))
	}
	if calls := newPace(callsPerSecond); calls.interval > 0 {
		longest = longest.orLater(foresee(turns, Forecast{PerSecond: callsPerSecond}, calls.start))
	}
	return longest
}

// foresee lets the turns start one after the other. The function returns when a turn starts; zero if the limit does not
// count it.
func foresee(turns []Turn, f Forecast, start func(t *Turn) time.Time) Forecast {
	counted := 0
	for i := range turns {
		at := start(&turns[i])
		if at.IsZero() {
			continue
		}
		counted++
		if at.Sub(turns[i].At) >= time.Second {
			f.Delayed++
			f.Last, f.Turns = later(f.Last, at), counted
		}
	}
	return f
}

// orLater returns the forecast whose last delayed eviction starts later.
func (f Forecast) orLater(other Forecast) Forecast {
	if other.Delayed > 0 && (f.Delayed == 0 || other.Last.After(f.Last)) {
		return other
	}
	return f
}

// start starts the turn once its buckets have tokens, unless it may start because of a taint that no rate counts.
func (r *Rates) start(t *Turn) time.Time {
	free := func(key string) bool { return r.BucketsOf(key, nil).Key == "" }
	if len(t.TaintKeys) == 0 || slices.ContainsFunc(t.TaintKeys, free) {
		return time.Time{}
	}
	buckets := r.BucketsOf(t.TaintKeys[0], t.NodeLabels)
	_, until := buckets.Wait(t.At)
	at := later(t.At, until)
	buckets.Take(at)
	return at
}

// start starts the turn once the pace lets another call start.
func (p *pace) start(t *Turn) time.Time {
	at := later(t.At, p.next)
	p.take(at)
	return at
}
