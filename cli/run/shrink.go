package run

import (
	"context"
	"time"
)

// afterLists calls a function once the lists are in, and the evictions that were due then are under way.
func afterLists(ctx context.Context, synced func() bool, do func()) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		before := synced()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if before {
			do()
			return
		}
	}
}
