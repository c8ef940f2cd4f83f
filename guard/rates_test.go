package guard_test

import (
	"math"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
)

// zero is the moment from which the tests count seconds.
var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return zero.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

func in(zone string) map[string]string { return map[string]string{"zone": zone} }

func one(r policy.Rate) []policy.Rate { return []policy.Rate{r} }

// take requires a token, and returns it.
func take(t *testing.T, r *guard.Rates, second float64, zone string) guard.Tokens {
	t.Helper()
	tokens, wait := r.Take(at(second), "a", in(zone))
	if wait.Rate != "" {
		t.Fatalf("at %v: it waits: %+v", second, wait)
	}
	return tokens
}

func wantWait(t *testing.T, r *guard.Rates, second float64, zone string, want guard.Wait) {
	t.Helper()
	if _, got := r.Take(at(second), "a", in(zone)); got.Rate != want.Rate || got.Group != want.Group || !got.Until.Equal(want.Until) {
		t.Errorf("at %v: got %+v, want %+v", second, got, want)
	}
}

func TestBucketsBeginEmptyAndFillUp(t *testing.T) {
	r := guard.NewRates(at(0), one(policy.Rate{Name: "r", EvictionsPerSecond: 0.5, Burst: 2}))
	wantWait(t, r, 0, "a", guard.Wait{Rate: "r", Until: at(2)})
	wantWait(t, r, 1.9, "a", guard.Wait{Rate: "r", Until: at(2)})
	take(t, r, 2, "a").Keep(at(2))
	wantWait(t, r, 2, "a", guard.Wait{Rate: "r", Until: at(4)})
	take(t, r, 100, "a").Keep(at(100))
	take(t, r, 100, "b").Keep(at(100)) // the whole cluster is one group
	wantWait(t, r, 100, "c", guard.Wait{Rate: "r", Until: at(102)})
}

func TestACallByWhichNothingWentGivesItsTokenBack(t *testing.T) {
	r := guard.NewRates(at(0), one(policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}))
	tokens := take(t, r, 1, "a")
	wantWait(t, r, 1, "a", guard.Wait{Rate: "r"})
	wantWait(t, r, 90, "a", guard.Wait{Rate: "r"})
	tokens.Return()
	take(t, r, 90, "a").Keep(at(90))
	wantWait(t, r, 90, "a", guard.Wait{Rate: "r", Until: at(91)})
}

// Otherwise the bucket would fill up during long calls, and two bursts would be accepted at once.
func TestATokenIsTakenWhenTheDeletionIsAccepted(t *testing.T) {
	r := guard.NewRates(at(0), one(policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 2}))
	first, second := take(t, r, 2, "a"), take(t, r, 2, "a")
	wantWait(t, r, 30, "a", guard.Wait{Rate: "r"})
	first.Keep(at(32))
	second.Keep(at(32))
	wantWait(t, r, 32, "a", guard.Wait{Rate: "r", Until: at(33)})
}

func TestACallTakesATokenOfEveryRateThatCountsIt(t *testing.T) {
	r := guard.NewRates(at(0), []policy.Rate{
		{Name: "cluster", EvictionsPerSecond: 1, Burst: 3},
		{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 0.1, Burst: 1},
		{Name: "others", Taints: []policy.TaintKey{{Key: "b"}}, EvictionsPerSecond: 0.001, Burst: 1},
	})
	take(t, r, 10, "a").Keep(at(10))
	wantWait(t, r, 10, "a", guard.Wait{Rate: "zones", Group: "a", Until: at(20)})
	take(t, r, 10, "b").Keep(at(10)) // the attempt above took nothing
	_, wait := r.Take(at(10), "a", nil)
	if wait.Rate != "" {
		t.Errorf("nodes without the label are a group: got %+v", wait)
	}
	wantWait(t, r, 10, "c", guard.Wait{Rate: "cluster", Until: at(11)}) // its last token is reserved
	if _, wait := r.Take(at(20), "b", in("d")); wait.Rate != "others" || !wait.Until.Equal(at(1000)) {
		t.Errorf("the tightest counts: got %+v", wait)
	}
}

func TestARateCountsOutOfServiceOnlyIfItNamesIt(t *testing.T) {
	named := guard.NewRates(at(0), one(policy.Rate{Name: "r", Taints: []policy.TaintKey{{Key: v1.TaintNodeOutOfService}}, EvictionsPerSecond: 1, Burst: 1}))
	all := guard.NewRates(at(0), one(policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}))
	if _, wait := named.Take(at(0), v1.TaintNodeOutOfService, nil); wait.Rate == "" {
		t.Error("named: it does not wait")
	}
	if _, wait := all.Take(at(0), v1.TaintNodeOutOfService, nil); wait.Rate != "" {
		t.Error("not named: it waits")
	}
}

func TestARateThatKeepsItsNameKeepsItsLevel(t *testing.T) {
	was := policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 4}
	faster, smaller, renamed, zoned := was, was, was, was
	faster.EvictionsPerSecond, smaller.Burst, renamed.Name, zoned.TopologyKey = 2, 1, "s", "zone"
	for name, c := range map[string]struct {
		next   policy.Rate
		tokens int // taken at once
	}{
		"the same": {was, 3}, "faster": {faster, 3}, "with a smaller burst": {smaller, 1}, "renamed": {renamed, 0}, "with other groups": {zoned, 0},
	} {
		r := guard.NewRates(at(0), one(was))
		r.Replace(at(3.5), one(c.next))
		got := 0
		for ; got < 9; got++ {
			tokens, wait := r.Take(at(3.5), "a", in("a"))
			if wait.Rate != "" {
				break
			}
			tokens.Keep(at(3.5))
		}
		if got != c.tokens {
			t.Errorf("%s: got %d tokens, want %d", name, got, c.tokens)
		}
	}
}

func TestACallUnderWayKeepsItsTokenOverAReload(t *testing.T) {
	r := guard.NewRates(at(0), one(policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}))
	tokens := take(t, r, 1, "a")
	r.Replace(at(2), one(policy.Rate{Name: "r", EvictionsPerSecond: 0.5, Burst: 1}))
	wantWait(t, r, 50, "a", guard.Wait{Rate: "r"})
	tokens.Keep(at(50))
	wantWait(t, r, 50, "a", guard.Wait{Rate: "r", Until: at(52)})
}

func TestTheLevelIsThatOfTheGroupWithTheFewestTokens(t *testing.T) {
	r := guard.NewRates(at(0), []policy.Rate{
		{Name: "cluster", EvictionsPerSecond: 1, Burst: 4},
		{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 2},
	})
	want := func(second float64, cluster, zones int) {
		t.Helper()
		if got := r.Levels(at(second)); !slices.Equal(got, []guard.Level{{Rate: "cluster", Tokens: cluster}, {Rate: "zones", Tokens: zones}}) {
			t.Errorf("at %v: got %v, want %d and %d", second, got, cluster, zones)
		}
	}
	want(0.9, 0, 0)
	want(1, 1, 1)
	want(100, 4, 2)
	underWay := take(t, r, 100, "a")
	want(100, 3, 1) // a reserved token is not available
	take(t, r, 100, "b").Keep(at(100))
	take(t, r, 100, "b").Keep(at(100))
	want(100, 1, 0)
	underWay.Return()
	want(101, 3, 1)
}

// Groups come and go with nodes, and leave no buckets behind.
func TestBucketsOfGroupsThatAreGoneAreForgotten(t *testing.T) {
	r := guard.NewRates(at(0), one(policy.Rate{Name: "r", TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 1}))
	for i := range 10_000 {
		take(t, r, float64(10+i), time.Duration(i).String()).Keep(at(float64(10 + i)))
	}
	if got := r.Buckets(); got > 300 {
		t.Errorf("got %d buckets", got)
	}
}

// accepted is a deletion: its time and its zone.
type accepted struct {
	at   time.Time
	zone string
}

// underWay is a call that has taken its tokens.
type underWay struct {
	guard.Tokens
	accepted time.Time // by the API server; zero if not yet
	zone     string
}

// TestNoRateIsExceededInAnyWindow plays calls of random length, whose deletions are accepted at any time between
// their start and their end, and random changes of leader and configuration. The calls of a leader end with it.
func TestNoRateIsExceededInAnyWindow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rates := []policy.Rate{
			{Name: "cluster", EvictionsPerSecond: rapid.SampledFrom([]float64{0.3, 1, 3}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 4).Draw(rt, "burst")},
			{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: rapid.SampledFrom([]float64{0.2, 0.7, 2}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 3).Draw(rt, "burst")},
		}
		now, r := zero, guard.NewRates(zero, rates)
		var calls []underWay
		var all []accepted
		for range 60 {
			now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
			switch action := rapid.IntRange(0, 20).Draw(rt, "action"); {
			case action < 10:
				zone := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "zone")
				if tokens, wait := r.Take(now, "a", in(zone)); wait.Rate == "" {
					calls = append(calls, underWay{Tokens: tokens, zone: zone})
				}
			case action < 14 && len(calls) > 0:
				i := rapid.IntRange(0, len(calls)-1).Draw(rt, "call")
				if c := &calls[i]; c.accepted.IsZero() {
					c.accepted = now
					all = append(all, accepted{now, c.zone})
				}
			case action < 18 && len(calls) > 0:
				i := rapid.IntRange(0, len(calls)-1).Draw(rt, "call")
				c := calls[i]
				calls = slices.Delete(calls, i, i+1)
				lost := rapid.Bool().Draw(rt, "lost")
				if !c.accepted.IsZero() || lost {
					c.Keep(now)
				} else {
					c.Return()
				}
			case action == 18:
				calls, r = nil, guard.NewRates(now, rates)
			case action == 19:
				r.Replace(now, rapid.SampledFrom([][]policy.Rate{rates, tighter(rates)}).Draw(rt, "reload"))
			}
		}
		checkWindows(rt, all, rates[0])
		for _, zone := range []string{"a", "b"} {
			checkWindows(rt, slices.DeleteFunc(slices.Clone(all), func(a accepted) bool { return a.zone != zone }), rates[1])
		}
	})
}

// tighter returns the same rates with lower limits. Windows across a reload are bounded by the looser ones.
func tighter(rates []policy.Rate) []policy.Rate {
	less := slices.Clone(rates)
	for i := range less {
		less[i].EvictionsPerSecond, less[i].Burst = less[i].EvictionsPerSecond/3, 1
	}
	return less
}

func checkWindows(t *rapid.T, all []accepted, r policy.Rate) {
	for i := range all {
		for j := i; j < len(all); j++ {
			seconds := all[j].at.Sub(all[i].at).Seconds()
			if n := j - i + 1; float64(n) > float64(r.Burst)+r.EvictionsPerSecond*seconds+1e-9 {
				t.Fatalf("%s: %d deletions in %v s, at %v a second and a burst of %d", r.Name, n, seconds, r.EvictionsPerSecond, r.Burst)
			}
		}
	}
}

// The twin counts tokens as fractions, millisecond by millisecond. An eviction that waits can be sent at the time
// that Wait gives.
func TestNoTokenIsWithheld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := policy.Rate{Name: "r", EvictionsPerSecond: rapid.SampledFrom([]float64{0.5, 1, 4}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 4).Draw(rt, "burst")}
		r := guard.NewRates(zero, one(rate))
		var calls []guard.Tokens
		now, level := 0, 0.0
		for range 40 {
			for range rapid.IntRange(0, 3000).Draw(rt, "ms") {
				now++
				level = min(float64(rate.Burst), level+rate.EvictionsPerSecond/1000)
			}
			when := at(float64(now) / 1000)
			switch {
			case len(calls) > 0 && rapid.Bool().Draw(rt, "ends"):
				if rapid.Bool().Draw(rt, "kept") {
					calls[0].Keep(when)
					level--
				} else {
					calls[0].Return()
				}
				calls = calls[1:]
			default:
				tokens, wait := r.Take(when, "a", nil)
				if want := level-float64(len(calls)) >= 1-1e-9; (wait.Rate == "") != want {
					rt.Fatalf("at %d ms with %v tokens, %d under way: got %+v", now, level, len(calls), wait)
				}
				if wait.Rate == "" {
					calls = append(calls, tokens)
				} else if !wait.Until.IsZero() {
					checkUntil(rt, r, when, wait)
				}
			}
		}
	})
}

func checkUntil(t *rapid.T, r *guard.Rates, now time.Time, w guard.Wait) {
	again, later := *r, w.Until // Take on a copy must not change the level
	if _, wait := again.Take(now, "a", nil); !wait.Until.Equal(later) {
		t.Fatalf("asked twice: %+v, then %+v", w, wait)
	}
}
