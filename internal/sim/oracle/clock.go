package oracle

import "time"

// Drift is by how many nanoseconds in a second a clock runs fast.
type Drift int64

// Of is how much the clock gains in a time.
func (d Drift) Of(passed time.Duration) time.Duration {
	return passed/time.Second*time.Duration(d) + passed%time.Second*time.Duration(d)/time.Second
}

// Run is how far the clock runs in a time.
func (d Drift) Run(passed time.Duration) time.Duration { return passed + d.Of(passed) }

// MaxDrift is the most that a clock drifts.
const MaxDrift Drift = 100_000

// slip is by how much a time may be measured wrong, at most: by clocks that each drift on their own, of which one has
// written it, one has measured its age, and one goes on from there.
func (o *Oracle) slip(passed time.Duration) time.Duration {
	if !o.Drifting {
		return 0
	}
	return 4*MaxDrift.Of(min(max(passed, 0), far/2)) + time.Millisecond
}

// skew bounds by how much later a time of the API counts for a process than it is true: negative where it counts
// earlier.
type skew struct{ lo, hi time.Duration }

// uncertain is how wide the interval is, at most, in which a process knows its clock to be ahead: the Date of an answer
// is cut off to the second, and the answer takes its time.
const uncertain = 1500 * time.Millisecond

// skewAt is the skew for a process that is ahead of the API server so far. The README: "where it is ahead by more than
// 2 s, ages are shortened by that, never lengthened".
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
