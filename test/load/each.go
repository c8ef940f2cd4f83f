package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxInFlight is the number of requests that [Each] makes at a time.
const maxInFlight = 16

// Each makes n requests, 16 at a time, and returns the first error.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	return Spread(ctx, maxInFlight, n, do)
}

// Spread calls do for each number below n, with this number of workers, and returns the first error, after which no
// further call starts.
func Spread(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					cancel(fmt.Errorf("request %d of %d: %w", i, n, err))
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
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
