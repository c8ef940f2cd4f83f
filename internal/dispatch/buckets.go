package dispatch

import (
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Buckets are the buckets of all rates that count an eviction, one bucket of each rate. Each is valid as long as its
// rate continues, see [Rates.Replace].
type Buckets struct {
	// Key tells buckets apart: evictions with the same key have the same buckets.
	Key string

	members []member
}

// member is the bucket of one group of a rate.
type member struct {
	rate  *rate
	group string
}

// BucketsOf returns the buckets of an eviction because of a taint with this key on a node with these labels.
func (r *Rates) BucketsOf(taintKey string, labels map[string]string) Buckets {
	var all Buckets
	var key strings.Builder
	for _, rate := range r.rates {
		if !rate.Counts(taintKey) {
			continue
		}
		m := member{rate, policy.GroupOf(rate.TopologyKey, labels)}
		all.members = append(all.members, m)
		key.WriteString(rate.Name)
		key.WriteByte('/')
		key.WriteString(m.group)
		key.WriteByte(0) // is in no name and no label
	}
	all.Key = key.String()
	return all
}

// Wait returns the rate with the longest wait for a token, and the end of that wait. The rate is empty if each bucket
// has a token now.
func (b Buckets) Wait(now time.Time) (rate string, until time.Time) {
	for _, m := range b.members {
		if wait := m.rate.wait(now, m.rate.fullAt(m.group)); wait > 0 && now.Add(wait).After(until) {
			rate, until = m.rate.Name, now.Add(wait)
		}
	}
	return rate, until
}

// Take takes a token from each bucket, even from an empty one.
func (b Buckets) Take(now time.Time) {
	for _, m := range b.members {
		m.rate.set(now, m.group, later(m.rate.fullAt(m.group), now).Add(m.rate.interval))
	}
}

// Return gives a token back to each bucket, up to its burst.
func (b Buckets) Return(now time.Time) {
	for _, m := range b.members {
		m.rate.set(now, m.group, m.rate.fullAt(m.group).Add(-m.rate.interval))
	}
}

// refill is how fast token buckets fill, and their capacity. The state of a bucket is the moment when it is full if no
// token is taken until then. Its level is its number of tokens times interval, so that all numbers are integers.
type refill struct {
	interval time.Duration // for one token, rounded up
	burst    int64
}

// capacity returns the time in which an empty bucket fills. It fits into a time.Duration: a million tokens of a
// thousand seconds each.
func (r refill) capacity() time.Duration { return time.Duration(r.burst) * r.interval }

// level returns the level, which is negative after the rate has changed, or after a token was taken from an empty
// bucket.
func (r refill) level(now, full time.Time) time.Duration { return r.capacity() - max(0, full.Sub(now)) }

// wait returns the time until the bucket has a token; 0 if the bucket has a token now.
func (r refill) wait(now, full time.Time) time.Duration { return max(0, r.interval-r.level(now, full)) }

// tokens returns the number of tokens.
func (r refill) tokens(now, full time.Time) int64 {
	return max(0, int64(r.level(now, full)/r.interval))
}

// convert returns when a bucket is full if it keeps its tokens, but fills at another rate from now on. Fractions of a
// token are lost.
func (r refill) convert(now, full time.Time, to refill) time.Time {
	if r == to {
		return full
	}
	level := r.level(now, full)
	tokens := level / r.interval
	if level%r.interval < 0 {
		tokens--
	}
	return now.Add(to.capacity() - tokens*to.interval) // may be past: the bucket is full then
}
