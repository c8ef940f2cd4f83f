package journal

import "time"

// inStep is the maximum difference of two clocks that count as agreeing.
const inStep = 2 * time.Second

// Writing is one writing of a partition: when it was written, and how this process received it.
type Writing struct {
	// At is when it was written, by its writer's clock; zero if unknown.
	At time.Time

	// Stored is when it was stored, by the API server's clock, truncated to the second; zero if unknown.
	Stored time.Time

	// Received is when this process received it from its watch of the partition; zero if it found the partition in this
	// state. It carries the monotonic clock.
	Received time.Time

	// Undone is as in a [Partition].
	Undone time.Time
}

// live reports whether the writing gives ages without a comparison of two clocks.
func (w *Writing) live() bool { return !w.At.IsZero() && !w.Received.IsZero() }

// agrees reports whether the times of this writing count although the next one was received. They do not if an edit
// was undone between the two, or if this writing claims to be the later one: it may be an edit of which no leader has
// heard, because its client has restored the content before.
func (w *Writing) agrees(next *Writing) bool {
	return w.Undone.Equal(next.Undone) && !w.At.After(next.At)
}
