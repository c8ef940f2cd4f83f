package dispatch

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Rates are the rates of a leader. In any window of w seconds, at most burst + evictionsPerSecond * w tokens are taken
// from the bucket of each group of each rate, not counting the tokens that were given back in that window. A change of
// leader or of the configuration does not exceed this limit: buckets begin empty, and a rate that keeps its name and
// its topologyKey keeps its levels.
type Rates struct {
	rates []*rate
}

type rate struct {
	policy.Rate
	refill
	fresh time.Time            // when the buckets of groups without evictions so far are full
	full  map[string]time.Time // when the buckets of the other groups are full
}

// NewRates returns the rates of a leader that begins now.
func NewRates(now time.Time, list []policy.Rate) *Rates {
	r := &Rates{}
	r.Replace(now, list)
	return r
}

// Replace replaces the rates. A rate that keeps its name and its topologyKey continues with its buckets, to which calls
// in flight give their tokens back. Other buckets begin empty.
func (r *Rates) Replace(now time.Time, list []policy.Rate) {
	old := r.rates
	r.rates = nil
	for i := range list {
		next := &list[i]
		continues := func(o *rate) bool { return o.Name == next.Name && o.TopologyKey == next.TopologyKey }
		if j := slices.IndexFunc(old, continues); j >= 0 {
			old[j].change(now, next)
			r.rates = append(r.rates, old[j])
			continue
		}
		empty := &rate{Rate: *next, refill: refillOf(next), full: map[string]time.Time{}}
		empty.fresh = now.Add(empty.capacity())
		r.rates = append(r.rates, empty)
	}
}

func refillOf(r *policy.Rate) refill {
	return refill{time.Duration(math.Ceil(float64(time.Second) / r.EvictionsPerSecond)), int64(r.Burst)}
}

// change changes the limits of the rate, and which taints it counts. Its buckets keep their tokens.
func (r *rate) change(now time.Time, to *policy.Rate) {
	old := r.refill
	r.Rate, r.refill = *to, refillOf(to)
	r.fresh = old.convert(now, r.fresh, r.refill)
	for group, full := range r.full {
		r.full[group] = old.convert(now, full, r.refill)
	}
}

// fullAt returns when the bucket of a group is full.
func (r *rate) fullAt(group string) time.Time {
	if full, ok := r.full[group]; ok {
		return full
	}
	return r.fresh
}

// set sets when the bucket of a group is full. Now and then it removes the buckets that are as full as a fresh bucket.
func (r *rate) set(now time.Time, group string, full time.Time) {
	if _, known := r.full[group]; !known && len(r.full)%256 == 255 {
		maps.DeleteFunc(r.full, func(_ string, full time.Time) bool {
			return r.level(now, full) == r.level(now, r.fresh)
		})
	}
	r.full[group] = full
}

// Level describes how much of a rate is available.
type Level struct {
	// Rate is the name of the rate.
	Rate string

	// Tokens is the number of tokens that can be taken now, in the group with the fewest tokens.
	Tokens int
}

// Levels returns the levels of all rates, in their order.
func (r *Rates) Levels(now time.Time) []Level {
	levels := make([]Level, len(r.rates))
	for i, rate := range r.rates {
		fewest := rate.tokens(now, rate.fresh) // no bucket has more
		for _, full := range rate.full {
			fewest = min(fewest, rate.tokens(now, full))
		}
		levels[i] = Level{rate.Name, int(fewest)}
	}
	return levels
}
