package evict

import (
	"context"
	"time"
)

// Clock is the time by which calls are confirmed. Its times carry the monotonic clock.
type Clock interface {
	Now() time.Time

	// AfterFunc calls do after the duration.
	AfterFunc(d time.Duration, do func())

	// Wait blocks until done is closed. It returns the context's error if the context ends first.
	Wait(ctx context.Context, done <-chan struct{}) error
}

// machine is the clock of the machine.
type machine struct{}

// Now returns the present time.
func (machine) Now() time.Time { return time.Now() }

// AfterFunc calls do after the duration, in a goroutine of its own.
func (machine) AfterFunc(d time.Duration, do func()) { time.AfterFunc(d, do) }

// Wait blocks until done is closed.
func (machine) Wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
