package guard

import "time"

// pace is the rate at which a bucket fills, and its capacity.
type pace struct {
	interval time.Duration // for one token, rounded up
	burst    int64
}

// capacity returns the time in which an empty bucket fills. It fits into a time.Duration: a million tokens of a
// thousand seconds each.
func (p pace) capacity() time.Duration { return time.Duration(p.burst) * p.interval }

// bucket is a token bucket in exact integers. Its level is the time in which its present tokens are added.
type bucket struct {
	pace pace

	// full is when the bucket is full if no token is taken until then.
	full time.Time
}

// emptyBucket returns a bucket that is empty now.
func emptyBucket(now time.Time, p pace) bucket { return bucket{p, now.Add(p.capacity())} }

// level returns the level, which is negative after the pace has changed, or after a token was taken from an empty
// bucket.
func (b *bucket) level(now time.Time) time.Duration {
	return b.pace.capacity() - max(0, b.full.Sub(now))
}

// wait returns the time until the bucket has a token; 0 if the bucket has a token now.
func (b *bucket) wait(now time.Time) time.Duration { return max(0, b.pace.interval-b.level(now)) }

// tokens returns the number of tokens.
func (b *bucket) tokens(now time.Time) int64 { return max(0, int64(b.level(now)/b.pace.interval)) }

// take takes a token. The level may become negative.
func (b *bucket) take(now time.Time) { b.full = later(b.full, now).Add(b.pace.interval) }

// give gives a token back, up to the burst.
func (b *bucket) give() { b.full = b.full.Add(-b.pace.interval) }

// change converts the level to another pace. A fraction of a token is lost.
func (b *bucket) change(now time.Time, to pace) {
	if b.pace == to {
		return
	}
	level := b.level(now)
	tokens := level / b.pace.interval
	if level%b.pace.interval < 0 {
		tokens--
	}
	b.pace = to
	b.full = now.Add(to.capacity() - tokens*to.interval) // may be past: the bucket is full then
}
