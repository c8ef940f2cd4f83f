package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// Counts say how often something has happened in one or more worlds, by name.
type Counts map[string]int

// Add adds the counts of other worlds.
func (c Counts) Add(other Counts) {
	for name, n := range other {
		c[name] += n
	}
}

// Many runs the worlds of n seeds, starting with from, several at a time, and stops after most failures. It returns
// the counts of all, and the failures by seed.
func Many(from, n uint64, workers, most int, o Options) (sum Counts, failed []Result) {
	var next atomic.Uint64
	var mu sync.Mutex
	var running sync.WaitGroup
	sum = Counts{}
	for range workers {
		running.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				r := Run(from+i, o)
				mu.Lock()
				sum.Add(r.Counts)
				if r.Err != nil {
					failed = append(failed, r)
				}
				if len(failed) >= most {
					next.Store(n)
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	slices.SortFunc(failed, func(a, b Result) int { return cmp.Compare(a.Seed, b.Seed) })
	return sum, failed
}

// Explain describes a failure: the seed, the broken promise, the fewest actions that break it, and the end of the
// trace of the world with those actions alone.
func Explain(r Result, o Options) string {
	p := shrunk(o.plan(r.Seed), rule(r.Err), o)
	var lines []string
	o.Trace = func(line string) { lines = append(lines, line) }
	again := run(p, o)
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %v\n\nIt also happens with these actions alone: %v\n", r.Seed, r.Err, again.Err)
	for i := range p.actions {
		fmt.Fprintf(&b, "%12.6f %v\n", (p.actions[i].at - preface).Seconds(), &p.actions[i])
	}
	const most = 120
	fmt.Fprintf(&b, "\nThe end of their trace:\n%s\n", strings.Join(lines[max(0, len(lines)-most):], "\n"))
	return b.String()
}

// shrunk returns the plan with as few actions as it can find that still break the same promise.
func shrunk(p *plan, broken string, o Options) *plan {
	o.Trace = nil
	for size := max(len(p.actions)/2, 1); size > 0; size /= 2 {
		for i := 0; i < len(p.actions); {
			fewer := *p
			fewer.actions = slices.Delete(slices.Clone(p.actions), i, min(i+size, len(p.actions)))
			if rule(run(&fewer, o).Err) == broken {
				p = &fewer
			} else {
				i += size
			}
		}
	}
	return p
}

func rule(err error) string {
	if v, ok := errors.AsType[*oracle.Violation](err); ok {
		return v.Rule
	}
	return ""
}
