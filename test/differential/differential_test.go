package differential

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/taint"
)

var (
	seed      = flag.Uint64("seed", 0, "play the history of this seed only, and print it")
	first     = flag.Uint64("first", 1, "the first seed of many")
	histories = flag.Uint64("histories", 60000, "how many histories to play")
)

// leastUntouched is the minimum percentage of histories to which no correction applies. enough is the number of
// histories that it takes to check this, and that every correction alone makes a difference.
const (
	leastUntouched = 30
	enough         = 5000
	maxRaced       = 5
)

// TestMain makes garbage collection rarer: there is much garbage, and little else in memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// Both controllers compare numbers: the operators Lt and Gt count.
func TestAgainstTheOriginal(t *testing.T) {
	comparison(t, true)
	all := playAll(t, setting{comparison: true}, *histories)
	if all.histories < enough {
		return
	}
	if all.raced > maxRaced {
		t.Errorf("the original had to play %d histories again; want %d at most", all.raced, maxRaced)
	}
	if share := 100 * all.untouched / all.histories; share < leastUntouched {
		t.Errorf("no correction applies to only %d %% of the histories; want %d %% or more", share, leastUntouched)
	}
	for _, c := range corrections() {
		if all.of[c.name].differs == 0 {
			t.Errorf("no history shows that the original does otherwise because of the correction %q alone", c.name)
		}
	}
}

// Neither controller compares numbers: the operators Lt and Gt match nothing.
func TestAgainstTheOriginalWithoutComparison(t *testing.T) {
	comparison(t, false)
	playAll(t, setting{comparison: false}, *histories/10)
}

// comparison switches the operators Lt and Gt on or off in the original, for the whole process.
func comparison(t *testing.T, on bool) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.TaintTolerationComparisonOperators, on)
}

// setting is the configuration of the controllers.
type setting struct{ comparison bool }

func (s setting) options() taintmanager.Options {
	return taintmanager.Options{Rules: taint.Rules{NoComparison: !s.comparison}, Logger: logr.FromSlogHandler(slog.DiscardHandler)}
}

// playAll plays n histories on all cores, or only the one of the flag.
func playAll(t *testing.T, s setting, n uint64) *tally {
	all := newTally()
	if *seed != 0 {
		r := playSeed(t, s, *seed)
		t.Logf("\n%s", r)
		r.check(t)
		return all
	}
	parts := uint64(runtime.GOMAXPROCS(0))
	t.Run("histories", func(t *testing.T) {
		for part := range parts {
			t.Run(fmt.Sprint("part ", part+1), func(t *testing.T) {
				t.Parallel()
				for i := part; i < n && !t.Failed(); i += parts {
					r := playSeed(t, s, *first+i)
					r.check(t)
					all.add(r)
				}
			})
		}
	})
	t.Logf("\n%s", all)
	return all
}
