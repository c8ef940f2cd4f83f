package dispatch

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

func perSecond(n float64, burst int) []policy.Rate {
	return []policy.Rate{{Name: "cluster", EvictionsPerSecond: n, Burst: burst}}
}

func TestATokenIsSpentByACallThatMayHaveDeleted(t *testing.T) {
	spent, back := []float64{2, 4, 6, 8}, []float64{2, 2, 2, 2}
	var (
		blocked   = eviction.Outcome{Kind: eviction.Blocked}
		throttled = eviction.Outcome{Kind: eviction.Throttled, RetryAfter: 3 * time.Second}
		notFound  = eviction.Outcome{Kind: eviction.NotFound}
	)
	for name, c := range map[string]struct {
		outcomes []eviction.Outcome // of the calls; the last one of all others
		want     []float64          // when the calls begin, in seconds
	}{
		"accepted":           {[]eviction.Outcome{succeeds}, spent},
		"a dry run":          {[]eviction.Outcome{{Kind: eviction.DryRun}}, spent},
		"the answer is lost": {[]eviction.Outcome{timesOut}, spent},
		"cut":                {[]eviction.Outcome{{Kind: eviction.Interrupted}}, spent},
		"of no kind":         {[]eviction.Outcome{{}}, spent},
		"cut before":         {[]eviction.Outcome{{Kind: eviction.Interrupted, NothingDeleted: true}}, back},
		"failed before":      {[]eviction.Outcome{fails}, back},
		"blocked":            {[]eviction.Outcome{blocked}, back},
		"refused":            {[]eviction.Outcome{{Kind: eviction.Refused}}, back},
		"unconfirmed":        {[]eviction.Outcome{{Kind: eviction.Unconfirmed}}, back},
		"not found":          {[]eviction.Outcome{notFound}, back},
		"mixed":              {[]eviction.Outcome{blocked, succeeds, blocked, timesOut}, []float64{2, 2, 4, 4}},
		"throttled":          {[]eviction.Outcome{throttled, succeeds}, []float64{2, 5, 7, 9}},
		"not sent":           {[]eviction.Outcome{unreachable, notFound, succeeds}, []float64{2, 2.1, 2.1, 4.1, 6.1}}, // the second is the probe
	} {
		synctest.Test(t, func(t *testing.T) {
			outcomes := slices.Concat(c.outcomes, slices.Repeat(c.outcomes[len(c.outcomes)-1:], 4))
			n := noting(inTurn(outcomes...))
			u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 1, Rates: perSecond(.5, 1)}, Evictor: n}).wholePauses()
			u.taint = "down"
			defer u.lead()()
			u.offer(4)
			time.Sleep(20 * time.Second)
			var got []float64
			for _, d := range n.begins() {
				got = append(got, d.Seconds())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: calls at %v s, want %v", name, got, c.want)
			}
		})
	}
}

func TestEachTermBeginsWithEmptyBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := noting(always(succeeds))
		u := newUser(t, Options{CoreOptions: CoreOptions{Rates: perSecond(1, 5)}, Evictor: n})
		u.taint = "down"
		for range 2 {
			time.Sleep(time.Hour)
			began := time.Since(n.born)
			end := u.lead()
			u.offer(1)
			time.Sleep(4 * time.Second)
			if got := n.begins(); got[len(got)-1] != began+time.Second {
				t.Errorf("the term begins at %v, calls are at %v", began, got)
			}
			if levels := u.Levels(); !slices.Equal(levels, []Level{{Rate: "cluster", Tokens: 3}}) {
				t.Errorf("after 4 s and a call: %v", levels)
			}
			end()
		}
	})
}

func TestReplacedRatesCountAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := noting(always(succeeds))
		u := newUser(t, Options{Evictor: n})
		defer u.lead()()
		u.taint = "down"
		for i, step := range []struct {
			rates []policy.Rate
			after time.Duration // that the call waits
		}{
			{nil, 0},
			{perSecond(1, 3), time.Second},
			{perSecond(.001, 3), 0}, // of four seconds, two tokens are left, and one after this call
			{nil, 0},
			{perSecond(1, 3), time.Second},
		} {
			u.SetRates(step.rates, 32)
			began := time.Since(n.born)
			u.offer(1)
			time.Sleep(4 * time.Second)
			if got := n.begins(); len(got) != i+1 || got[i]-began != step.after {
				t.Errorf("step %d, at %v: calls at %v", i, began, got)
			}
		}
	})
}

func TestARateThatIsReplacedReleasesThoseThatWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Rates: perSecond(.001, 1)}, Evictor: always(succeeds)})
		defer u.lead()()
		u.taint = "down"
		u.offer(5)
		u.expect("while the bucket is empty", 5, 0, 0)
		u.SetRates(nil, 32)
		u.expect("without the rate", 0, 0, 5)
	})
}

func TestWaitingForARateIsNoBusyLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := atomic.Int32{}
		u := newUser(t, Options{
			CoreOptions: CoreOptions{Rates: perSecond(.01, 1), Leading: func() bool { asked.Add(1); return true }},
			Evictor:     always(succeeds),
		})
		defer u.lead()()
		u.taint = "down"
		u.offer(300)
		synctest.Wait()
		before := asked.Load()
		time.Sleep(999 * time.Second)
		if n := asked.Load() - before; n > 100 {
			t.Errorf("asked %d times for 9 calls", n)
		}
		u.expect("after 999 s", 291, 0, 9)
	})
}
