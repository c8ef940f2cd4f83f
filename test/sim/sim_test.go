package sim

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

var (
	seedFlag   = flag.Uint64("sim.seed", 0, "replay the world of this seed, and print its trace")
	worldsFlag = flag.Uint64("sim.worlds", 0, "how many worlds to run; 0: 3000, or 500 with -short")
	fromFlag   = flag.Uint64("sim.from", 1, "the first seed")
)

func TestWorlds(t *testing.T) { runWorlds(t, Options{}) }

// TestWorldsWithPolicies runs worlds with random policies, guards and reloads.
func TestWorldsWithPolicies(t *testing.T) { runWorlds(t, Options{Policies: true}) }

// runWorlds runs worlds, and reports those that break a promise; or it replays one.
func runWorlds(t *testing.T, o Options) {
	t.Helper()
	if *seedFlag != 0 {
		replay(t, *seedFlag, o)
		return
	}
	// The defects of docs/lab/simulation.md, "What it finds", take at most 1200 worlds.
	const enough = 3000
	n := *worldsFlag
	if n == 0 {
		n = enough
		if testing.Short() {
			n = 500
		}
	}
	// Worlds are short-lived: otherwise garbage collection would take most of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	began := time.Now()
	counts, failed := Many(*fromFlag, n, runtime.GOMAXPROCS(0), 5, o)
	for i, r := range failed {
		t.Errorf("seed %d: %v", r.Seed, r.Err)
		if i == 0 {
			t.Errorf("%s\nReplay it: make sim SEED=%d%s", Explain(r, o), r.Seed, map[bool]string{true: " POLICIES=1"}[o.Policies])
		}
	}
	took := time.Since(began)
	rate := float64(counts["Worlds"]) / took.Seconds()
	t.Logf("%d worlds from seed %d in %v, %.0f a second: %v", counts["Worlds"], *fromFlag, took.Round(time.Second), rate, counts)
	for _, name := range expected(o.Policies) {
		if counts[name] == 0 && n >= enough && *fromFlag == 1 && len(failed) == 0 {
			t.Errorf("this never happened: %s", name)
		}
	}
}

// expected returns the names of what happens in some of the worlds that the tests run.
func expected(policies bool) []string {
	if policies {
		return []string{"Reloads", "Trips", "Resets", "Holds"}
	}
	names := strings.Fields(`Evicted Cancelled Delayed OneByException Renewed TakenOver Forgotten Probes
		Edited Forged LostAnswers Conflicts StaleLists Ahead ReadAhead Foretold Planned`)
	for _, k := range slices.Concat(common(), faults()) {
		names = append(names, string(k))
	}
	for k := eviction.Accepted; k <= eviction.Unconfirmed; k++ {
		if k != eviction.DryRun {
			names = append(names, k.String())
		}
	}
	return names
}

// replay prints the trace of one world.
func replay(t *testing.T, seed uint64, o Options) {
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	o.Trace = func(line string) { fmt.Fprintln(out, line) }
	r := Run(seed, o)
	fmt.Fprintln(out, r.Counts)
	if r.Err != nil {
		t.Errorf("seed %d: %v", seed, r.Err)
	}
}

// In each of these worlds, of one kind or both, a leader read a record of a node after gaps in its watch.
func TestWorldsThatHaveBrokenAPromise(t *testing.T) {
	for _, seed := range []uint64{104682, 116667, 200035, 207686, 225111, 225336, 230507, 330145, 387115, 1098256, 1133968, 1148059, 1265653, 1317463, 2039958, 2128296, 2245779, 2442915, 2493649, 3255783, 5098329, 5360875, 6204846, 10064342, 20376447, 20402027, 92090153, 94058649, 99109617, 99153700} {
		for _, policies := range []bool{false, true} {
			if r := Run(seed, Options{Policies: policies}); r.Err != nil {
				t.Errorf("seed %d, policies: %t: %v", seed, policies, r.Err)
			}
		}
	}
}

func TestOneSeedGivesOneTrace(t *testing.T) {
	for seed := range uint64(80) {
		var traces [2][]string
		for i := range traces {
			Run(seed, Options{Policies: seed%2 == 1, Trace: func(line string) { traces[i] = append(traces[i], line) }})
		}
		for i, line := range traces[0] {
			if i >= len(traces[1]) || line != traces[1][i] {
				t.Fatalf("seed %d: the traces differ in line %d: %s", seed, i, line)
			}
		}
	}
}
