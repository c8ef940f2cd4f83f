package skew

import "time"

// Interval bounds what the API server's clock shows at a moment of this process. Both bounds run on the process's
// monotonic clock, so a step of its wall clock does not move them. The zero value bounds nothing.
type Interval struct {
	anchor           time.Time // the first response; carries the monotonic clock
	earliest, latest int64     // by the API server's clock at the anchor, in nanoseconds since 1970
}

// Answered returns the interval after a response with this Date header. sent and received are the process's times of
// the request and the response. The header is truncated to whole seconds: at some moment from sent to received, the API
// server's clock showed a time in [date, date+1s). If that contradicts the interval, for example because API servers
// with different clocks respond, the result spans both.
func (i Interval) Answered(date, sent, received time.Time) Interval {
	if !i.Measured() {
		return Interval{received, date.UnixNano(), date.UnixNano() + int64(received.Sub(sent)+time.Second)}
	}
	earliest := date.UnixNano() - int64(received.Sub(i.anchor))
	latest := earliest + int64(received.Sub(sent)+time.Second)
	if latest < i.earliest || i.latest < earliest {
		return Interval{i.anchor, min(i.earliest, earliest), max(i.latest, latest)}
	}
	return Interval{i.anchor, max(i.earliest, earliest), min(i.latest, latest)}
}

// Measured reports whether there was a response.
func (i Interval) Measured() bool { return !i.anchor.IsZero() }

// width returns how exactly the API server's clock is known.
func (i Interval) width() time.Duration { return time.Duration(i.latest - i.earliest) }

// Ahead returns by how much the process's wall clock is ahead of the API server's clock now, at least and at most. Both
// are negative if it is behind, and 0 if nothing is known.
func (i Interval) Ahead(now time.Time) (least, most time.Duration) {
	if !i.Measured() {
		return 0, 0
	}
	wall := now.UnixNano() - int64(now.Sub(i.anchor)) // at the anchor
	return time.Duration(wall - i.latest), time.Duration(wall - i.earliest)
}
