package run

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// shrinkAfterSync makes the process small once the first lists are in. It returns the memory that they took to the
// operating system, because that may be more than is ever needed again, and little is left in use. From then on one
// thread at a time runs Go code, unless GOMAXPROCS is set: this program's work comes in many small steps, and with
// several processors each step would wake a thread, which costs more than the step.
func shrinkAfterSync() {
	debug.FreeOSMemory()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

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
