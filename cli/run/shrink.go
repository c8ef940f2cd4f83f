package run

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// shrinkAfterSync makes the process small once the first lists are in. The memory that they took goes back to the
// system: it may be more than is ever needed again, and what is left in use is small. From then on one
// thread at a time runs Go code, unless GOMAXPROCS says otherwise: what this program does comes in many
// small steps, and on several processors each step would wake a thread, which costs more than the step.
func shrinkAfterSync() {
	debug.FreeOSMemory()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// afterLists does something once the lists are in, and what was due then is under way.
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
