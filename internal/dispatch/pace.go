package dispatch

import "time"

// paceSlack is the maximum delay that later calls catch up on. Timers fire a little late, which would add up at high
// rates.
const paceSlack = 20 * time.Millisecond

// pace spreads calls evenly. Invariant: calls started in any span <= (span + paceSlack)/interval + 1. The zero pace
// sets no limit.
type pace struct {
	interval time.Duration
	next     time.Time // no call starts before
	held     time.Time // until when the pace last held back candidates
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
