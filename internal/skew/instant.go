package skew

import "time"

// Ahead returns by how much this process's wall clock is ahead of the API server's, at least and at most; both are
// negative if it is behind. Several goroutines call it. Nil means that the clocks agree.
type Ahead func(now time.Time) (least, most time.Duration)

// At returns the instant now.
func (a Ahead) At(now time.Time) Instant {
	if a == nil {
		return Instant{Time: now}
	}
	least, most := a(now)
	return Instant{now, least, most}
}

// Instant is a moment of this process, which carries the monotonic clock, with bounds of how far the wall clock is
// ahead of the API server's. Its methods convert all times from and to the API.
//
// Invariant: t.ToLocal(t.Late(x)) >= x, and t.ToLocal(t.Early(x)) <= x unless the clock is set.
type Instant struct {
	time.Time

	Min, Max time.Duration
}

// ToLocal converts a time by the API server's clock to the monotonic clock of this process. The age of the result is
// the smaller of the time's two ages, by this process's clock and by the API server's; never negative.
func (i Instant) ToLocal(t time.Time) time.Time { return i.Add(-max(i.age(t), 0)) }

// IsFuture reports whether a time by the API server's clock may be in the future.
func (i Instant) IsFuture(t time.Time) bool { return i.age(t) < 0 }

// age returns the smaller of the two ages of a time.
func (i Instant) age(t time.Time) time.Duration {
	const centuries = 1 << 62
	return max(i.Round(0).Sub(t.Round(0)), -centuries) - max(i.Max, 0)
}

// Timestamp is ToLocal for a timestamp of the API, which is truncated to whole seconds; a missing one is the instant
// itself.
func (i Instant) Timestamp(t time.Time) time.Time {
	if t.IsZero() {
		return i.Time
	}
	return i.ToLocal(NextSecond(t))
}

// Late returns the latest time that the API server's clock may show at a moment of this process or, if that is later,
// the moment by the wall clock as it is set now. It rounds up to the millisecond.
func (i Instant) Late(moment time.Time) time.Time {
	late := i.wall(moment).Add(max(-i.Min, 0))
	if rounded := late.Truncate(time.Millisecond); rounded.Before(late) {
		return rounded.Add(time.Millisecond)
	}
	return late
}

// Early returns the earliest time that the API server's clock may show at a moment of this process, rounded down.
func (i Instant) Early(moment time.Time) time.Time {
	return i.wall(moment).Add(-i.Max).Truncate(time.Millisecond)
}

// wall returns a moment of this process by its wall clock as it is set now.
func (i Instant) wall(moment time.Time) time.Time { return i.Round(0).Add(-i.Sub(moment)).UTC() }

// NextSecond returns the start of the next second. API timestamps are truncated to whole seconds, so the true time is
// before that.
func NextSecond(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) }
