package guard

import "time"

// pace is the rate at which a bucket fills, and its capacity.
type pace struct {
	interval time.Duration // for one token, rounded up
	burst    int64
}

// full returns the level of a full bucket. It fits into a time.Duration: a million tokens of a thousand seconds
// each.
func (p pace) full() time.Duration { return time.Duration(p.burst) * p.interval }

// bucket is a token bucket in exact integers: its level is the time in which that number of tokens is added.
type bucket struct {
	pace  pace
	level time.Duration // negative after the pace has changed, or after a token was taken that was not there
	at    time.Time     // of the level
}

// fill updates the level to now. A clock that goes backwards adds nothing.
func (b *bucket) fill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.at = now
		b.level += min(passed, b.pace.full()-b.level)
	}
}

// wait returns the time until there is a token; 0 if there is one now.
func (b *bucket) wait() time.Duration { return max(0, b.pace.interval-b.level) }

// tokens returns how many tokens there are.
func (b *bucket) tokens() int64 { return max(0, int64(b.level/b.pace.interval)) }

// take takes a token. The level may become negative.
func (b *bucket) take(now time.Time) {
	b.fill(now)
	b.level -= b.pace.interval
}

// give gives a token back, up to the burst.
func (b *bucket) give(now time.Time) {
	b.fill(now)
	b.level = min(b.level+b.pace.interval, b.pace.full())
}

// change converts the level to another pace. A fraction of a token is lost.
func (b *bucket) change(now time.Time, to pace) {
	b.fill(now)
	if b.pace == to {
		return
	}
	tokens := b.level / b.pace.interval
	if b.level%b.pace.interval < 0 {
		tokens--
	}
	b.pace, b.level = to, min(tokens, time.Duration(to.burst))*to.interval
}
