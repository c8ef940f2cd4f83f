package evict

import "time"

// paceSlack is how much of a delay a later call may catch up on: timers are late by some, and at a
// high rate that would add up.
const paceSlack = 20 * time.Millisecond

// pace spreads calls evenly in time: in any span, at most the rate's share of it and of paceSlack
// more, plus one. The zero pace lets everything through. It is pure, and not safe for concurrent use.
type pace struct {
	interval time.Duration
	next     time.Time
}

// newPace returns a pace of so many calls a second; 0 or less: no limit.
func newPace(perSecond float64) pace {
	if perSecond <= 0 {
		return pace{}
	}
	return pace{interval: time.Duration(float64(time.Second) / perSecond)}
}

// limited says whether there is a limit.
func (p *pace) limited() bool { return p.interval > 0 }

// wait is how long until the next call may start; 0 or less: now.
func (p *pace) wait(now time.Time) time.Duration {
	if !p.limited() {
		return 0
	}
	return p.next.Sub(now)
}

// take counts a call that starts now.
func (p *pace) take(now time.Time) {
	if earliest := now.Add(-paceSlack); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(p.interval)
}
