package dispatch

import "time"

// paceSlack is how much of a delay a later call may catch up on: timers are late by some, and at a high rate that would
// add up.
const paceSlack = 20 * time.Millisecond

// pace spreads calls evenly in time: in any span, at most the rate's share of it and of paceSlack more, plus one. The
// zero pace sets no limit.
type pace struct {
	interval time.Duration
	next     time.Time // no call starts before
	held     time.Time // when its last hold of a candidate ends, or has ended
}

// newPace returns a limit of calls a second; 0: no limit.
func newPace(perSecond float64) pace {
	if perSecond <= 0 {
		return pace{}
	}
	return pace{interval: time.Duration(float64(time.Second) / perSecond)}
}

// take counts a call that starts now.
func (p *pace) take(now time.Time) {
	if p.interval == 0 {
		return
	}
	p.next = later(p.next, now.Add(-paceSlack)).Add(p.interval)
}
