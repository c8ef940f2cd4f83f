package guard

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Rates are the rates of a leader. In any window of w seconds, at most burst + evictionsPerSecond * w tokens are taken
// of each group of each rate, without the tokens that were given back in that window. A change of leader or of the
// configuration does not exceed this limit: buckets begin empty, and a rate that keeps its name and its topologyKey
// keeps its levels.
type Rates struct {
	rates []*rate
}

type rate struct {
	policy.Rate
	fresh   bucket             // of each group without evictions so far
	buckets map[string]*bucket // by group
}

// NewRates returns the rates of a leader that begins now.
func NewRates(now time.Time, list []policy.Rate) *Rates {
	r := &Rates{}
	r.Replace(now, list)
	return r
}

// Replace replaces the rates. Calls under way keep their tokens.
func (r *Rates) Replace(now time.Time, list []policy.Rate) {
	old := r.rates
	r.rates = nil
	for i := range list {
		next := &rate{Rate: list[i], buckets: map[string]*bucket{}}
		next.fresh = emptyBucket(now, paceOf(&list[i]))
		if j := slices.IndexFunc(old, next.continues); j >= 0 {
			next.carryOn(now, old[j])
		}
		r.rates = append(r.rates, next)
	}
}

func paceOf(r *policy.Rate) pace {
	return pace{time.Duration(math.Ceil(float64(time.Second) / r.EvictionsPerSecond)), int64(r.Burst)}
}

// continues reports whether the other rate is this rate before a reload, with the same groups.
func (r *rate) continues(old *rate) bool {
	return r.Name == old.Name && r.TopologyKey == old.TopologyKey
}

// carryOn adopts the buckets of the old rate.
func (r *rate) carryOn(now time.Time, old *rate) {
	to := r.fresh.pace
	r.fresh, r.buckets = old.fresh, old.buckets
	r.fresh.change(now, to)
	for _, b := range r.buckets {
		b.change(now, to)
	}
}

// bucket returns the bucket of a group. Now and then it removes the buckets that are as full as a fresh bucket.
func (r *rate) bucket(now time.Time, group string) *bucket {
	b := r.buckets[group]
	if b == nil {
		if len(r.buckets)%256 == 255 {
			maps.DeleteFunc(r.buckets, func(_ string, b *bucket) bool { return b.level(now) == r.fresh.level(now) })
		}
		b = new(r.fresh)
		r.buckets[group] = b
	}
	return b
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
		fewest := rate.fresh.tokens(now) // no bucket has more
		for _, b := range rate.buckets {
			fewest = min(fewest, b.tokens(now))
		}
		levels[i] = Level{rate.Name, int(fewest)}
	}
	return levels
}
