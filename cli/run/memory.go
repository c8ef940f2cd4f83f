package run

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much garbage may pile up before it is collected, in percent of what is in use: what this program
// keeps is small, and what it throws away in a burst is much. With Go's 100 it would spend a third of its
// processor time on collecting; with 400 in a large cluster it would take much memory for little.
const (
	leastGarbage  = 100
	maxGarbage    = 400
	enoughGarbage = 32 << 20 // bytes; more than this only as far as leastGarbage says
)

// tuneGC sets that, and again after each collection, unless GOGC says otherwise.
func tuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(maxGarbage)
	afterEachCollection(func() { debug.SetGCPercent(garbagePercent(liveHeap())) })
}

// garbagePercent is how much garbage may pile up when so many bytes are in use.
func garbagePercent(inUse uint64) int {
	if inUse == 0 {
		return maxGarbage
	}
	return int(min(max(enoughGarbage*100/inUse, leastGarbage), maxGarbage))
}

// liveHeap is how many bytes the last collection has found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// afterEachCollection calls a function soon after each garbage collection. It works by an object that nobody
// holds: the collector's finding it is the sign.
func afterEachCollection(do func()) {
	runtime.AddCleanup(new([4]uintptr), func(struct{}) {
		afterEachCollection(do)
		do()
	}, struct{}{})
}
