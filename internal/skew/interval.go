package skew

import "time"

// Tolerance is how far this process's clock may be ahead before ages are shortened.
const Tolerance = 2 * time.Second

// Interval bounds what the API server's clock shows at a moment of this process. Both bounds run on the process's
// monotonic clock, so a step of its wall clock does not move them. The zero value bounds nothing.
type Interval struct {
	at               time.Time // carries the monotonic clock
	earliest, latest time.Time // by the API server's clock
}

// Answered returns the interval after a response with this Date header. sent and received are the process's times of
// the request and the response. The header is truncated to the second: at some moment between the two, the API server's
// clock showed a time in [date, date+1s). If that contradicts the interval, for example because API servers with
// different clocks respond, the result spans both.
func (i Interval) Answered(date, sent, received time.Time) Interval {
	one := Interval{at: received, earliest: date, latest: date.Add(received.Sub(sent) + time.Second)}
	if !i.Measured() {
		return one
	}
	i = i.moved(received)
	if one.latest.Before(i.earliest) || i.latest.Before(one.earliest) {
		return Interval{at: received, earliest: first(i.earliest, one.earliest), latest: last(i.latest, one.latest)}
	}
	return Interval{at: received, earliest: last(i.earliest, one.earliest), latest: first(i.latest, one.latest)}
}

// Measured reports whether there was a response.
func (i Interval) Measured() bool { return !i.at.IsZero() }

// Ahead returns by how much the process's wall clock is ahead of the API server's clock now, at least and at most. Both
// are negative if it is behind, and 0 if nothing is known.
func (i Interval) Ahead(now time.Time) (least, most time.Duration) {
	if !i.Measured() {
		return 0, 0
	}
	i = i.moved(now)
	wall := now.Round(0)
	return wall.Sub(i.latest), wall.Sub(i.earliest)
}

// Excess returns by how much an age is too long that is computed now from a time of the API and the process's wall
// clock: by as much as the process's clock may be ahead if that is more than Tolerance, otherwise 0. It is never
// negative: no age becomes longer.
func (i Interval) Excess(now time.Time) time.Duration {
	if _, most := i.Ahead(now); most > Tolerance {
		return most
	}
	return 0
}

// moved returns the same interval at another moment.
func (i Interval) moved(to time.Time) Interval {
	passed := to.Sub(i.at)
	return Interval{at: to, earliest: i.earliest.Add(passed), latest: i.latest.Add(passed)}
}

func first(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func last(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
