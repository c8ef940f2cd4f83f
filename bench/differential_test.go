package bench

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"

	taintmanager "github.com/taint-manager/taint-manager"
)

var (
	seed      = flag.Uint64("seed", 0, "play the history of this seed only, and print it")
	first     = flag.Uint64("first", 1, "the first seed of many")
	histories = flag.Uint64("histories", 60000, "how many histories to play")
)

// leastUntouched is the share of histories, in percent, to which no correction applies, at the least.
// enough is how many histories it takes to say so, and to meet every correction alone.
const (
	leastUntouched = 30
	enough         = 5000
)

// TestMain collects garbage less often: there is much of it, and little else.
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
	if share := 100 * all.untouched / all.histories; share < leastUntouched {
		t.Errorf("no correction applies to only %d %% of the histories; want %d %% or more", share, leastUntouched)
	}
	for _, c := range corrections() {
		if all.of[c.name].differs == 0 {
			t.Errorf("no history shows that the original does otherwise because of the correction %q alone", c.name)
		}
	}
}

// Neither of them does: the operators Lt and Gt match nothing.
func TestAgainstTheOriginalWithoutComparison(t *testing.T) {
	comparison(t, false)
	playAll(t, setting{comparison: false}, *histories/10)
}

// comparison switches the operators Lt and Gt on or off in the original, for the whole process.
func comparison(t *testing.T, on bool) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.TaintTolerationComparisonOperators, on)
}

// setting is how the controllers are set.
type setting struct{ comparison bool }

func (s setting) options() taintmanager.Options {
	return taintmanager.Options{NoComparison: !s.comparison, Logger: logr.FromSlogHandler(slog.DiscardHandler)}
}

// playAll plays so many histories on all cores, or only the one that is asked for.
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

// result is one history with what the model and the controllers make of it.
type result struct {
	seed     uint64
	test     string
	history  *history
	model    outcome
	ours     outcome
	embedded outcome
	original outcome
	applied  []applied
}

// applied is a correction that applies to a pod at a moment.
type applied struct {
	name string
	moment
}

func playSeed(t *testing.T, s setting, seed uint64) *result {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("seed %d: %v", seed, r))
		}
	}()
	h := generate(seed)
	m := predict(h, s.comparison)
	test, _, _ := strings.Cut(t.Name(), "/")
	r := &result{
		seed: seed, test: test, history: h, model: m.evicted,
		ours:     play(t, h, ours(s.options())),
		embedded: play(t, h, embedded(s.options())),
		original: play(t, h, original),
	}
	for _, mo := range m.moments {
		for _, c := range corrections() {
			if c.applies(mo) {
				r.applied = append(r.applied, applied{c.name, mo})
			}
		}
	}
	return r
}

// check holds both ways to run this controller to the model and, where no correction applies to a pod
// or to another one of its name, to the original. Time is virtual, and therefore exact: there is no
// tolerance.
func (r *result) check(t *testing.T) {
	corrected := r.corrected()
	for _, p := range r.history.all() {
		r.compare(t, p.UID, "this controller, watching by itself,", r.ours, "the model", r.model)
		r.compare(t, p.UID, "this controller, on a caller's informers,", r.embedded, "the model", r.model)
		if !corrected[p.Name] {
			r.compare(t, p.UID, "this controller", r.ours, "the original", r.original)
		}
	}
}

// corrected are the names of pods to which a correction applies.
func (r *result) corrected() map[string]bool {
	names := map[string]bool{}
	for _, a := range r.applied {
		names[a.podName()] = true
	}
	return names
}

func (r *result) compare(t *testing.T, uid types.UID, who string, got outcome, other string, want outcome) {
	if got.of(uid) != want.of(uid) {
		t.Errorf("seed %d, pod %s: %s evicts it: %s; %s: %s\n%s", r.seed, uid, who, got.of(uid), other, want.of(uid), r)
	}
}

// of is when a pod was evicted, in words.
func (o outcome) of(uid types.UID) string {
	if at, ok := o[uid]; ok {
		return "at " + at.String()
	}
	return "never"
}

// differs says whether the original has done otherwise than this controller.
func (r *result) differs() bool {
	for _, p := range r.history.all() {
		if r.ours.of(p.UID) != r.original.of(p.UID) {
			return true
		}
	}
	return false
}

// String shows the history and all that came of it, and how to play it again.
func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "again: go test . -run '^%s$' -v -seed %d\n\n%s\n", r.test, r.seed, r.history)
	for _, a := range r.applied {
		fmt.Fprintf(&b, "%9s a correction applies to pod %s: %s\n", a.at, a.podName(), a.name)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "evicted\tmodel\tours\tours, on informers\toriginal")
	for _, p := range r.history.all() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.UID, r.model.of(p.UID), r.ours.of(p.UID), r.embedded.of(p.UID), r.original.of(p.UID))
	}
	_ = w.Flush() // into memory
	return b.String()
}
