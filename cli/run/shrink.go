package run

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// afterLists calls a function once the lists are in, and the evictions that were due then are under way.
func afterLists(ctx context.Context, synced func() bool, do func()) {
	before := false
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(context.Context) (done bool, _ error) {
		done, before = before, synced()
		return done, nil
	})
	if err == nil {
		do()
	}
}
