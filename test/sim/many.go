package sim

import (
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Counts say how often something has happened in one or more worlds, by name.
type Counts map[string]int

// Add adds the counts of other worlds.
func (c Counts) Add(other Counts) {
	for name, n := range other {
		c[name] += n
	}
}

// Many runs the worlds of n seeds, and begins no more of them after some failures. It returns the counts of all, and
// the failures by seed.
func Many(from, n uint64, o Options) (sum Counts, failed []Result) {
	const enough = 5
	var mu sync.Mutex
	var running errgroup.Group
	running.SetLimit(runtime.GOMAXPROCS(0))
	run := func(seed uint64) {
		r := Run(seed, o)
		mu.Lock()
		defer mu.Unlock()
		sum.Add(r.Counts)
		if r.Err != nil {
			failed = append(failed, r)
		}
	}
	more := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(failed) < enough
	}
	sum = Counts{}
	for seed := from; seed < from+n && more(); seed++ {
		running.Go(func() error { run(seed); return nil })
	}
	_ = running.Wait() // no error
	slices.SortFunc(failed, func(a, b Result) int { return int(a.Seed) - int(b.Seed) })
	return sum, failed
}
