package journal

import "time"

// inStep is the maximum difference of two clocks that count as agreeing.
const inStep = 2 * time.Second

// onItsWay is how long a writing is on its way at most: as long as a call.
const onItsWay = 10 * time.Second

// Writing is one writing of a partition: when it was written, and how this process received it.
type Writing struct {
	// At is when it was written, by its writer's clock; zero if unknown.
	At time.Time

	// Stored is when it was stored, by the API server's clock, truncated to the second; zero if unknown.
	Stored time.Time

	// Received is when this process received it from its watch of the partition; zero if it found the partition in this
	// state. It carries the monotonic clock.
	Received time.Time
}

// live reports whether the writing gives ages without a comparison of two clocks.
func (w *Writing) live() bool { return !w.At.IsZero() && !w.Received.IsZero() }

// agrees reports whether the times of two writings, of which the other came later, can be those of one clock: the other
// was not made before, nor longer on its way than a writing may be. Otherwise, one of the times was forged.
func (w *Writing) agrees(other *Writing) bool {
	if w.At.After(other.At) {
		return false
	}
	return !w.live() || !other.live() || other.Received.Sub(w.Received)-other.At.Sub(w.At) <= onItsWay
}
