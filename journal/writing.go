package journal

import "time"

// inStep is how far apart what two clocks tell may be that count as being in step.
const inStep = 2 * time.Second

// Writing is one writing of a partition: when it was written, and how this process has come by it.
type Writing struct {
	// At is when it was written, by its writer's clock; zero if that is unknown.
	At time.Time

	// Stored is when it was stored, by the API server's clock, cut off to the second; zero if that is unknown.
	Stored time.Time

	// Received is when this process received it, where it watched the partition change; zero where it found the partition so. It
	// carries the monotonic clock.
	Received time.Time
}

// live reports whether the writing tells ages without a comparison of two clocks.
func (w *Writing) live() bool { return !w.At.IsZero() && !w.Received.IsZero() }
