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

// bucket is a token bucket in exact integers: its level is the time in which that number of tokens is added. A token
// is taken from the level when the deletion is accepted, which may be long after the call began. Until then the
// token is reserved: it occupies its place in the bucket, so that the bucket does not fill up during the call and
// permit a second burst at the same time.
type bucket struct {
	pace     pace
	level    time.Duration // negative after the pace has changed
	at       time.Time     // of the level
	reserved int64         // calls under way
}

// fill updates the level to now. A clock that goes backwards adds nothing.
func (b *bucket) fill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.at = now
		b.level += min(passed, b.pace.full()-b.level)
	}
}

// wait returns the time until a token can be reserved: 0 if one can be reserved now. ends is false if only the end
// of a call under way can return one.
func (b *bucket) wait() (wait time.Duration, ends bool) {
	if b.reserved >= b.pace.burst {
		return 0, false
	}
	return max(0, time.Duration(b.reserved+1)*b.pace.interval-b.level), true
}

// tokens returns how many tokens can be reserved now.
func (b *bucket) tokens() int64 {
	return max(0, min(b.pace.burst, int64(b.level/b.pace.interval))-b.reserved)
}

// take takes a reserved token.
func (b *bucket) take(now time.Time) {
	b.fill(now)
	b.reserved--
	b.level -= b.pace.interval
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

// spend takes a token that was not reserved. The level may become negative.
func (b *bucket) spend(now time.Time) {
	b.fill(now)
	b.level -= b.pace.interval
}

// give gives a token back, up to the burst.
func (b *bucket) give(now time.Time) {
	b.fill(now)
	b.level = min(b.level+b.pace.interval, b.pace.full())
}
