package oracle

import "time"

// Drift is the number of nanoseconds that a clock gains in a second.
type Drift int64

// Of returns how much the clock gains in a time.
func (d Drift) Of(passed time.Duration) time.Duration {
	return passed/time.Second*time.Duration(d) + passed%time.Second*time.Duration(d)/time.Second
}

// Run returns how far the clock runs in a time.
func (d Drift) Run(passed time.Duration) time.Duration { return passed + d.Of(passed) }

// MaxDrift is the largest drift of a clock.
const MaxDrift Drift = 100_000

// slip returns the largest error in measuring a time with drifting clocks: one clock wrote the time, one measured
// its age, and one continues from there.
func (o *Oracle) slip(passed time.Duration) time.Duration {
	if !o.Drifting {
		return 0
	}
	return 4*MaxDrift.Of(min(max(passed, 0), far/2)) + time.Millisecond
}

// skew bounds how much later a timestamp of the API counts for a process than it was true; negative if it counts
// earlier.
type skew struct{ lo, hi time.Duration }

// uncertain is the largest width of the interval in which a process knows how far its clock is ahead: the Date of an
// answer is cut off to the second, and the answer takes time.
const uncertain = 1500 * time.Millisecond

// skewAt returns the skew for a process that is ahead of the API server by that much. docs/semantics.md, "Clocks":
// where the process may be ahead by more than 2 s, each age is shortened by as much; no age is lengthened.
func skewAt(ahead time.Duration) skew {
	const tolerance, margin = 2 * time.Second, 100 * time.Millisecond
	switch {
	case ahead > tolerance+margin:
		return skew{0, uncertain}
	case ahead > tolerance-uncertain-margin:
		return skew{-ahead, max(uncertain, -ahead)}
	}
	return skew{-ahead, -ahead}
}
