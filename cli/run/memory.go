package run

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The amount of garbage before a collection, in percent of the memory in use. This program keeps little, and allocates
// much in a burst. With Go's 100 it would spend a third of its CPU time on collections; with 400 in a large cluster it
// would use much memory for little gain.
const (
	leastGarbage  = 100
	maxGarbage    = 400
	enoughGarbage = 32 << 20 // bytes; leastGarbage may allow more
)

// tuneGC sets the percentage, and again after each collection, unless GOGC is set.
func tuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(maxGarbage)
	afterEachCollection(func() { debug.SetGCPercent(garbagePercent(liveHeap())) })
}

// garbagePercent returns the percentage for this number of bytes in use.
func garbagePercent(inUse uint64) int {
	if inUse == 0 {
		return maxGarbage
	}
	return int(min(max(enoughGarbage*100/inUse, leastGarbage), maxGarbage))
}

// liveHeap returns the number of bytes that the last collection found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// afterEachCollection calls a function soon after each garbage collection. It allocates an unreachable object: its
// cleanup is the signal.
func afterEachCollection(do func()) {
	runtime.AddCleanup(new([4]uintptr), func(struct{}) {
		afterEachCollection(do)
		do()
	}, struct{}{})
}
