package dispatch

import "time"

// Backoff is a wait that doubles with each failure in a row, from First to Max.
type Backoff struct{ First, Max time.Duration }

// Wait returns the wait after n failures in a row. The jitter in [0,1) picks a time from half of the wait to all of it,
// so that calls that failed together are not repeated together. A constant wait (First is Max) has no jitter.
func (b Backoff) Wait(n int, jitter float64) time.Duration {
	if n <= 0 {
		return 0
	}
	wait := b.First
	for ; n > 1 && wait < b.Max; n-- {
		wait *= 2
	}
	if wait = min(wait, b.Max); b.First == b.Max {
		return wait
	}
	return wait/2 + time.Duration(jitter*float64(wait/2))
}
