package dispatch_test

import (
	"math"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
)

// zero is the moment from which the tests count seconds.
var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return zero.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

func in(zone string) map[string]string { return map[string]string{"zone": zone} }

func one(r policy.Rate) []policy.Rate { return []policy.Rate{r} }

// spend takes all tokens, at most n, and returns their number.
func spend(b dispatch.Buckets, now time.Time, n int) (taken int) {
	for ; taken < n; taken++ {
		if rate, _ := b.Wait(now); rate != "" {
			return taken
		}
		b.Take(now)
	}
	return taken
}

func wantWait(t *testing.T, b dispatch.Buckets, second float64, rate string, until float64) {
	t.Helper()
	if got, when := b.Wait(at(second)); got != rate || rate != "" && !when.Equal(at(until)) {
		t.Errorf("at %v: waits for %q until %v, want %q until %v", second, got, when, rate, at(until))
	}
}

func TestACallTakesATokenOfEveryRateThatCountsIt(t *testing.T) {
	r := dispatch.NewRates(at(0), []policy.Rate{
		{Name: "cluster", EvictionsPerSecond: 1, Burst: 3},
		{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 0.1, Burst: 1},
		{Name: "others", Taints: []policy.TaintKey{{Key: "b"}}, EvictionsPerSecond: 0.001, Burst: 1},
	})
	a, b, c, none := r.BucketsOf("a", in("a")), r.BucketsOf("a", in("b")), r.BucketsOf("a", in("c")), r.BucketsOf("a", nil)
	a.Take(at(10))
	wantWait(t, a, 10, "zones", 20)
	wantWait(t, b, 10, "", 0)
	b.Take(at(10))
	wantWait(t, none, 10, "", 0) // nodes without the label are a group
	none.Take(at(10))
	wantWait(t, c, 10, "cluster", 11)
	wantWait(t, a, 10, "zones", 20) // the longest wait counts
	a.Return(at(10))
	wantWait(t, a, 10, "", 0)
	wantWait(t, b, 10, "zones", 20)
	wantWait(t, r.BucketsOf("b", in("d")), 10, "others", 1000)
	if a.Key == b.Key || a.Key != r.BucketsOf("other", in("a")).Key || a.Key == r.BucketsOf("b", in("a")).Key {
		t.Error("a key does not tell the buckets")
	}
}

func TestARateCountsOutOfServiceOnlyIfItNamesIt(t *testing.T) {
	named := dispatch.NewRates(at(0), one(policy.Rate{Name: "r", Taints: []policy.TaintKey{{Key: v1.TaintNodeOutOfService}}, EvictionsPerSecond: 1, Burst: 1}))
	all := dispatch.NewRates(at(0), one(policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}))
	wantWait(t, named.BucketsOf(v1.TaintNodeOutOfService, nil), 0, "r", 1)
	wantWait(t, all.BucketsOf(v1.TaintNodeOutOfService, nil), 0, "", 0)
}

func TestARateThatKeepsItsNameKeepsItsLevel(t *testing.T) {
	was := policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 4}
	faster, smaller, renamed, zoned := was, was, was, was
	faster.EvictionsPerSecond, smaller.Burst, renamed.Name, zoned.TopologyKey = 2, 1, "s", "zone"
	for name, c := range map[string]struct {
		next   policy.Rate
		tokens int     // that are there at once
		again  float64 // when the next token comes
	}{
		"the same":             {was, 3, 4}, // of which half is there
		"faster":               {faster, 3, 4},
		"with a smaller burst": {smaller, 1, 4.5},
		"renamed":              {renamed, 0, 4.5},
		"with other groups":    {zoned, 0, 4.5},
	} {
		r := dispatch.NewRates(at(0), one(was))
		r.Replace(at(3.5), one(c.next))
		after := r.BucketsOf("a", in("a"))
		if got := spend(after, at(3.5), 9); got != c.tokens {
			t.Errorf("%s: got %d tokens, want %d", name, got, c.tokens)
		}
		wantWait(t, after, 3.5, c.next.Name, c.again)
	}
}

func TestAReloadForgivesNoToken(t *testing.T) {
	rate := policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}
	r := dispatch.NewRates(at(0), one(rate))
	r.BucketsOf("a", nil).Take(at(0.5)) // half a token is missing then
	rate.EvictionsPerSecond = 0.1
	r.Replace(at(0.5), one(rate))
	wantWait(t, r.BucketsOf("a", nil), 0.5, "r", 20.5)
}

func TestACallGivesItsTokenBackToTheRateThatContinues(t *testing.T) {
	rate := policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}
	r := dispatch.NewRates(at(0), one(rate))
	b := r.BucketsOf("a", nil)
	b.Take(at(1))
	rate.EvictionsPerSecond = 0.5
	r.Replace(at(1), one(rate))
	wantWait(t, b, 1, "r", 3)
	b.Return(at(1))
	wantWait(t, b, 1, "", 0)
}

func TestTheLevelIsThatOfTheGroupWithTheFewestTokens(t *testing.T) {
	r := dispatch.NewRates(at(0), []policy.Rate{
		{Name: "cluster", EvictionsPerSecond: 1, Burst: 4},
		{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 2},
	})
	want := func(second float64, cluster, zones int) {
		t.Helper()
		if got := r.Levels(at(second)); !slices.Equal(got, []dispatch.Level{{Rate: "cluster", Tokens: cluster}, {Rate: "zones", Tokens: zones}}) {
			t.Errorf("at %v: got %v, want %d and %d", second, got, cluster, zones)
		}
	}
	want(0.9, 0, 0)
	want(1, 1, 1)
	want(100, 4, 2)
	a, b := r.BucketsOf("a", in("a")), r.BucketsOf("a", in("b"))
	a.Take(at(100))
	want(100, 3, 1)
	b.Take(at(100))
	b.Take(at(100))
	b.Take(at(100)) // of a bucket that has none
	want(100, 0, 0)
	a.Return(at(100))
	want(101, 2, 0)
}

// Groups come and go with nodes, and leave no buckets behind.
func TestBucketsOfGroupsThatAreGoneAreForgotten(t *testing.T) {
	r := dispatch.NewRates(at(0), one(policy.Rate{Name: "r", TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 1}))
	for i := range 10_000 {
		r.BucketsOf("a", in(time.Duration(i).String())).Take(at(float64(10 + i)))
	}
	if got := r.Buckets(); got > 300 {
		t.Errorf("got %d buckets", got)
	}
}

func TestABucketThatIsNotFullIsKept(t *testing.T) {
	r := dispatch.NewRates(at(0), one(policy.Rate{Name: "r", TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 1}))
	for i := range 1000 {
		r.BucketsOf("a", in(time.Duration(i).String())).Take(at(10))
	}
	for i := range 1000 {
		if n := spend(r.BucketsOf("a", in(time.Duration(i).String())), at(10), 1); n > 0 {
			t.Fatalf("the token of group %d can be taken twice", i)
		}
	}
}

// The twin counts tokens as fractions, millisecond by millisecond. An eviction that waits can be sent at the time that
// Wait gives.
func TestNoTokenIsWithheld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := policy.Rate{Name: "r", EvictionsPerSecond: rapid.SampledFrom([]float64{0.5, 1, 4}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 4).Draw(rt, "burst")}
		b := dispatch.NewRates(zero, one(rate)).BucketsOf("a", nil)
		level, now, calls := 0.0, 0, 0
		for range 40 {
			for range rapid.IntRange(0, 3000).Draw(rt, "ms") {
				now++
				level = min(float64(rate.Burst), level+rate.EvictionsPerSecond/1000)
			}
			when := at(float64(now) / 1000)
			if calls > 0 && rapid.Bool().Draw(rt, "gives back") {
				b.Return(when)
				level, calls = min(float64(rate.Burst), level+1), calls-1
				continue
			}
			name, until := b.Wait(when)
			if want := level >= 1-1e-9; (name == "") != want {
				rt.Fatalf("at %d ms with %v tokens: waits for %q", now, level, name)
			}
			if name == "" {
				b.Take(when)
				level, calls = level-1, calls+1
			} else if ms := (1 - level) / rate.EvictionsPerSecond * 1000; math.Abs(until.Sub(when).Seconds()*1000-ms) > 1e-3 {
				rt.Fatalf("at %d ms with %v tokens: waits until %v, want %v ms", now, level, until, ms)
			}
		}
	})
}
