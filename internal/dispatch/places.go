package dispatch

import "time"

// SlowAfter is how long a call holds a slot at most. Then it is slow, and takes a slow place.
const SlowAfter = time.Second

// How slots open when calls begin after there were none: rampFirst at once, and one more after each rampStep. If all
// started at once, no pod would be gone before the API server had the first requests of all.
const (
	rampFirst = 4
	rampStep  = 4 * time.Millisecond
)

// slowGap is the least time between two calls that start in slow places, so that 64 that end together do not make a
// burst.
const slowGap = 25 * time.Millisecond

// places counts the slots and the slow places.
type places struct {
	slots, slowPlaces int
	ramp              time.Time // start of the first call in a slot after there were none
	slowStart         time.Time // of the last call that started in a slow place
}

// started notes when a call starts; used is how many places of its kind were taken before.
func (p *places) started(now time.Time, k kind, used int) {
	switch {
	case k == slowPlace:
		p.slowStart = now
	case used == 0:
		p.ramp = now
	}
}

// freeSlot reports whether a call may start in a slot now. If not, next is when it may; zero if only the end of a call
// frees a slot.
func (p *places) freeSlot(now time.Time, used int) (free bool, next time.Time) {
	if used >= p.slots {
		return false, time.Time{}
	}
	return passed(now, p.ramp.Add(time.Duration(used-rampFirst+1)*rampStep))
}

// freeSlowPlace reports whether a call may start in a slow place now; next is as for freeSlot. A quarter of the slow
// places is for calls that turn slow.
func (p *places) freeSlowPlace(now time.Time, used int) (free bool, next time.Time) {
	if used >= atLeastOne(3*p.slowPlaces, 4) {
		return false, time.Time{}
	}
	return passed(now, p.slowStart.Add(slowGap))
}

// passed reports whether that moment has passed; if not, next is the moment.
func passed(now, moment time.Time) (yes bool, next time.Time) {
	if moment.After(now) {
		return false, moment
	}
	return true, time.Time{}
}

// forSlow is how many slots the calls of slow namespaces may hold together.
func (p *places) forSlow() int { return atLeastOne(p.slots, 2) }

// atLeastOne returns a share of a number, rounded up.
func atLeastOne(n, of int) int { return max(1, (n+of-1)/of) }

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
