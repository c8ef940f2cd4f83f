package dispatch

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Turn is an eviction that could start at the time At if no limit delayed it.
type Turn struct {
	At         time.Time
	TaintKeys  []string          // of the taints that evict the pod
	NodeLabels map[string]string // of its node
}

// Forecast says how a limit delays evictions.
type Forecast struct {
	Rate               string // its name; empty for the limit of all calls
	EvictionsPerSecond float64
	Delayed            int // number of evictions that the limit delays

	// Last is when the last delayed eviction can start. Evictions is how many the limit counts up to that one.
	Last      time.Time
	Evictions int
}

// Foresee returns the limit whose last delayed eviction starts latest; nil if no limit delays an eviction by a second
// or more. It applies each limit alone, with full buckets at first, and assumes that each call succeeds. It sorts the
// turns; turns in the past become due now.
func Foresee(now time.Time, turns []Turn, rates []policy.Rate, callsPerSecond float64) *Forecast {
	for i := range turns {
		turns[i].At = later(turns[i].At, now)
	}
	slices.SortFunc(turns, func(a, b Turn) int { return a.At.Compare(b.At) })
	var longest Forecast
	for i := range rates {
		r := &rates[i]
		full := NewRates(now.Add(-refillOf(r).capacity()), rates[i:i+1])
		one := Forecast{Rate: r.Name, EvictionsPerSecond: r.EvictionsPerSecond}
		longest = longest.orLater(foresee(turns, one, full.start))
	}
	calls := newPace(callsPerSecond)
	longest = longest.orLater(foresee(turns, Forecast{EvictionsPerSecond: callsPerSecond}, calls.start))
	if longest.Delayed == 0 {
		return nil
	}
	longest.Last = longest.Last.UTC().Round(time.Second)
	return &longest
}

// foresee lets the turns start one after the other. The function start returns when a turn starts; zero if the limit
// does not count the turn.
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
			f.Last, f.Evictions = later(f.Last, at), counted
		}
	}
	return f
}

// orLater returns that one of the two forecasts whose last delayed eviction starts later.
func (f Forecast) orLater(other Forecast) Forecast {
	if other.Last.After(f.Last) {
		return other
	}
	return f
}

// start returns when the turn gets its tokens, and takes them; zero if a taint that no rate counts evicts the pod.
func (r *Rates) start(t *Turn) time.Time {
	free := func(key string) bool {
		return !slices.ContainsFunc(r.rates, func(rate *rate) bool { return rate.Counts(key) })
	}
	if len(t.TaintKeys) == 0 || slices.ContainsFunc(t.TaintKeys, free) {
		return time.Time{}
	}
	buckets := r.BucketsOf(t.TaintKeys[0], t.NodeLabels)
	_, until := buckets.Wait(t.At)
	at := later(t.At, until)
	buckets.Take(at)
	return at
}

// start returns when the pace lets the turn start, and counts the call.
func (p *pace) start(t *Turn) time.Time {
	at := later(t.At, p.next)
	p.take(at)
	return at
}
