package evict

import "time"

// rateSlack is how much of a delay a later call may catch up on: timers are late by some, and at a
// high rate that would add up.
const rateSlack = 20 * time.Millisecond

// rateLimit spreads calls evenly in time: in any span, at most the rate's share of it and of rateSlack
// more, plus one. The zero rateLimit sets no limit. It is pure, and not safe for concurrent use.
type rateLimit struct {
	interval time.Duration
	next     time.Time
}

// newRateLimit returns a limit of calls a second; 0 or less: no limit.
func newRateLimit(perSecond float64) rateLimit {
	if perSecond <= 0 {
		return rateLimit{}
	}
	return rateLimit{interval: time.Duration(float64(time.Second) / perSecond)}
}

// limited reports whether there is a limit.
func (p *rateLimit) limited() bool { return p.interval > 0 }

// wait returns how long until the next call may start; 0 or less: now.
func (p *rateLimit) wait(now time.Time) time.Duration {
	if !p.limited() {
		return 0
	}
	return p.next.Sub(now)
}

// LimitedByRate reports whether all calls wait because of the limit of calls a second, and of nothing else.
func (g *Limiter) LimitedByRate(now time.Time) bool {
	return g.rate.wait(now) > 0 && !g.outage.on() && !g.throttled.After(now)
}

// LimitedByRate reports whether this process leads, and starts no call at this moment because of [PoolOptions.Rate].
func (p *Pool) LimitedByRate() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term != nil && !p.paused && p.limiter.LimitedByRate(time.Now())
}

// take counts a call that starts now.
func (p *rateLimit) take(now time.Time) {
	if earliest := now.Add(-rateSlack); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(p.interval)
}
