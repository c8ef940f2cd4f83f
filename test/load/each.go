package load

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// maxInFlight is the number of requests that [Each] makes at a time.
const maxInFlight = 16

// Each makes n requests, 16 at a time, and returns the first error.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	return Spread(ctx, maxInFlight, n, do)
}

// Spread calls do for each number below n, with at most atOnce calls at a time. It returns the first error, after which
// no further call starts.
func Spread(ctx context.Context, atOnce, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := do(ctx, i); err != nil {
				return fmt.Errorf("request %d of %d: %w", i, n, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// Pause waits, unless the context ends first.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
