package oracle

import "time"

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
