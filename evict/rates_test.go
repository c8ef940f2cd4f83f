package evict

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
)

func perSecond(n float64, burst int) []policy.Rate {
	return []policy.Rate{{Name: "cluster", EvictionsPerSecond: n, Burst: burst}}
}

// rateShard starts a call with each permit for which there is a token, as a shard does whose pods are all due. It
// holds no permit while it waits.
type rateShard struct {
	pool *Pool
	zone string

	tries atomic.Int64
}

func (s *rateShard) request() eviction.Request {
	e := someRequest()
	e.Pod.Node = s.zone
	return e
}

// run starts calls until the context ends. It reports whether each was started.
func (s *rateShard) run(ctx context.Context, calls int, done func(eviction.Outcome)) {
	for calls > 0 {
		changed := s.pool.RatesChanged()
		select {
		case <-ctx.Done():
			return
		case g := <-s.pool.Permits():
			s.tries.Add(1)
			wait := g.Take("maintenance", map[string]string{"zone": s.zone})
			if wait.Rate == "" {
				g.Start(s.request(), done)
				calls--
				continue
			}
			g.Release()
			s.wait(ctx, wait, changed)
		}
	}
}

func (s *rateShard) wait(ctx context.Context, wait guard.Wait, changed <-chan struct{}) {
	var until <-chan time.Time
	if !wait.Until.IsZero() {
		until = time.After(time.Until(wait.Until))
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-until:
	}
}

// runShards runs a shard for each zone until the test ends.
func runShards(t *testing.T, p *Pool, calls int, done func(eviction.Outcome), zones ...string) []*rateShard {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var shards []*rateShard
	for _, zone := range zones {
		s := &rateShard{pool: p, zone: zone}
		shards = append(shards, s)
		running.Go(func() { s.run(ctx, calls, done) })
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	return shards
}

func TestARateCountsAcceptedDeletions(t *testing.T) {
	blocked := eviction.Outcome{Kind: eviction.Blocked}
	lost := eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseTimeout}
	unsent := eviction.Outcome{Kind: eviction.Unavailable, NothingDeleted: true}
	for name, c := range map[string]struct {
		outcomes []eviction.Outcome // of the calls; the last one of all others
		want     []time.Duration    // when the calls begin
	}{
		"accepted":     {[]eviction.Outcome{{Kind: eviction.Accepted}}, seconds(2, 4, 6, 8)},
		"a dry run":    {[]eviction.Outcome{{Kind: eviction.DryRun}}, seconds(2, 4, 6, 8)},
		"answers lost": {[]eviction.Outcome{lost}, seconds(2, 4, 6, 8)},
		"blocked":      {[]eviction.Outcome{blocked}, seconds(2, 2, 2, 2)},
		"refused":      {[]eviction.Outcome{{Kind: eviction.Refused}}, seconds(2, 2, 2, 2)},
		"unconfirmed":  {[]eviction.Outcome{{Kind: eviction.Unconfirmed}}, seconds(2, 2, 2, 2)},
		"not found":    {[]eviction.Outcome{{Kind: eviction.NotFound}}, seconds(2, 2, 2, 2)},
		"mixed":        {[]eviction.Outcome{blocked, {Kind: eviction.Accepted}, blocked, lost}, seconds(2, 2, 4, 4)},
		"throttled":    {[]eviction.Outcome{{Kind: eviction.Throttled, RetryAfter: 3 * time.Second}, {Kind: eviction.Accepted}}, seconds(2, 5, 7, 9)},
		"not sent":     {[]eviction.Outcome{unsent, {Kind: eviction.NotFound}, {Kind: eviction.Accepted}}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeEvictor{answer: func(_ context.Context, n int) eviction.Outcome { return c.outcomes[min(n, len(c.outcomes)-1)] }}
			// With one slot, each call is permitted after the end of the one before, so its outcome counts for it.
			p := NewPool(PoolOptions{Evictor: f, Workers: 1, Rates: perSecond(0.5, 1)})
			began := time.Now()
			end := lead(t, p)
			defer end()
			runShards(t, p, 4, func(eviction.Outcome) {}, "a")
			time.Sleep(20 * time.Second)
			synctest.Wait()
			var got []time.Duration
			for _, d := range f.begins() {
				got = append(got, d+f.began[0].Sub(began))
			}
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%s: calls at %v, want %v", name, got, c.want)
			}
			if c.want == nil && (len(got) != 4 || got[2] >= 3*time.Second) {
				t.Errorf("%s: calls at %v: an outage uses up tokens", name, got)
			}
		})
	}
}

func seconds(numbers ...int) (all []time.Duration) {
	for _, n := range numbers {
		all = append(all, time.Duration(n)*time.Second)
	}
	return all
}

// The bucket must not fill up during long calls: then two bursts would be accepted at once.
func TestATokenIsReservedWhileItsCallIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lasting(30 * time.Second)
		p := NewPool(PoolOptions{Evictor: f, Workers: 8, Rates: perSecond(1, 2)})
		defer lead(t, p)()
		runShards(t, p, 10, func(eviction.Outcome) {}, "a")
		time.Sleep(29 * time.Second)
		if got := f.count(); got != 2 {
			t.Errorf("%d calls are under way, want 2", got)
		}
		time.Sleep(10 * time.Second)
		if got := f.begins(); len(got) != 4 || got[2] < 30*time.Second {
			t.Errorf("calls at %v, want the third once the first has ended", got)
		}
	})
}

func TestAPermitThatIsReleasedReturnsItsTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Rates: perSecond(1, 1)})
		defer lead(t, p)()
		time.Sleep(time.Second)
		first, second := <-p.Permits(), <-p.Permits()
		if wait := first.Take("a", nil); wait.Rate != "" {
			t.Errorf("the first: %+v", wait)
		}
		if wait := first.Take("b", nil); wait.Rate != "" {
			t.Errorf("another pod with the same permit: %+v", wait)
		}
		changed := p.RatesChanged()
		if wait := second.Take("a", nil); wait.Rate != "cluster" || !wait.Until.IsZero() {
			t.Errorf("the second: %+v, want to wait for the end of a call", wait)
		}
		first.Release()
		select {
		case <-changed:
		default:
			t.Error("nothing says that the token is back")
		}
		if wait := second.Take("a", nil); wait.Rate != "" {
			t.Errorf("the second, once the first is back: %+v", wait)
		}
		second.Release()
	})
}

// A shard whose pods all wait takes no permit; nor do shards that wait wake each other.
func TestWaitingForARateIsNoBusyLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		offers := atomic.Int64{}
		p := NewPool(PoolOptions{
			Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Rates: perSecond(0.01, 1),
			Leading: func() bool { offers.Add(1); return true },
		})
		defer lead(t, p)()
		shards := runShards(t, p, 1, func(eviction.Outcome) {}, "a", "b", "c")
		time.Sleep(99 * time.Second)
		for _, s := range shards {
			if n := s.tries.Load(); n != 1 {
				t.Errorf("a shard has tried %d times to start a call, want once", n)
			}
		}
		if n := offers.Load(); n > 12 {
			t.Errorf("%d permits were offered", n)
		}
		<-p.Permits() // one is on offer for pods without a rate
	})
}

// Where a call under way has the last token, the end of the wait is known only once the call has ended.
func TestTheEndOfACallWakesThoseThatWaitForIt(t *testing.T) {
	for name, kind := range map[string]eviction.Kind{"accepted": eviction.Accepted, "blocked": eviction.Blocked} {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeEvictor{answer: func(context.Context, int) eviction.Outcome {
				time.Sleep(5 * time.Second)
				return eviction.Outcome{Kind: kind}
			}}
			p := NewPool(PoolOptions{Evictor: f, Rates: perSecond(0.5, 1)})
			defer lead(t, p)()
			runShards(t, p, 1, func(eviction.Outcome) {}, "a", "b")
			time.Sleep(20 * time.Second)
			want := map[eviction.Kind]time.Duration{eviction.Accepted: 7 * time.Second, eviction.Blocked: 5 * time.Second}[kind]
			if got := f.begins(); len(got) != 2 || got[1] != want {
				t.Errorf("%s: calls at %v, want the second %v after the first", name, got, want)
			}
		})
	}
}

func TestEachTermBeginsWithEmptyBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted}), Rates: perSecond(1, 5)})
		for range 2 {
			time.Sleep(time.Hour)
			end := lead(t, p)
			g := <-p.Permits()
			if wait := g.Take("a", nil); !wait.Until.Equal(time.Now().Add(time.Second)) {
				t.Errorf("a term begins with %+v", wait)
			}
			time.Sleep(3 * time.Second)
			if levels := p.RateLevels(); !slices.Equal(levels, []guard.Level{{Rate: "cluster", Tokens: 3}}) {
				t.Errorf("after 3 s: %v", levels)
			}
			if wait := g.Take("a", nil); wait.Rate != "" {
				t.Errorf("after 3 s it waits: %+v", wait)
			}
			end() // the permit outlives its term, with a token of that term
			if wait := g.Take("a", nil); wait.Rate != "" {
				t.Errorf("a permit that starts no call waits: %+v", wait)
			}
			g.Release()
		}
	})
}

func TestReplacedRatesCountAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolOptions{Evictor: always(eviction.Outcome{Kind: eviction.Accepted})})
		defer lead(t, p)()
		g := <-p.Permits()
		take := func(want string) {
			t.Helper()
			if wait := g.Take("a", nil); wait.Rate != want {
				t.Errorf("got %+v, want to wait for %q", wait, want)
			}
		}
		replace := func(list []policy.Rate) {
			t.Helper()
			changed := p.RatesChanged()
			p.SetRates(list)
			select {
			case <-changed:
			default:
				t.Error("nothing says that the rates are others")
			}
		}
		take("")
		if p.RateLevels() != nil && len(p.RateLevels()) != 0 {
			t.Errorf("levels without rates: %v", p.RateLevels())
		}
		replace(perSecond(1, 3))
		take("cluster")
		time.Sleep(2 * time.Second)
		replace(perSecond(0.001, 3))
		take("") // the level is kept
		replace(nil)
		take("")
		replace(perSecond(1, 3))
		take("cluster")
		g.Release()
	})
}

func TestAPauseBeginsAndEndsAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(eviction.Outcome{Kind: eviction.Accepted})
		p := NewPool(PoolOptions{Evictor: f, Paused: true})
		defer lead(t, p)()
		told := make(chan eviction.Outcome, 1)
		runShards(t, p, 1, func(eviction.Outcome) {}, "a")
		time.Sleep(time.Minute)
		if f.count() != 0 {
			t.Error("a call was started in a pause")
		}
		p.SetPaused(false)
		synctest.Wait()
		if f.count() != 1 {
			t.Error("no call was started after the pause")
		}
		g := <-p.Permits()
		p.SetPaused(true)
		g.Start(someRequest(), func(o eviction.Outcome) { told <- o })
		if o := <-told; o.Kind != eviction.Interrupted || o.MayHaveDeleted() || f.count() != 1 {
			t.Errorf("a permit from before the pause: %+v", o)
		}
		synctest.Wait()
		select {
		case <-p.Permits():
			t.Error("a permit is offered in a pause")
		default:
		}
		if p.InFlight() != 0 {
			t.Errorf("%d calls are under way", p.InFlight())
		}
	})
}

// acceptance is a deletion that the API server has accepted.
type acceptance struct {
	at   time.Time
	zone string
}

// randomServer accepts deletions at any moment of calls of any length, and loses answers.
type randomServer struct {
	mu   sync.Mutex
	r    *rand.Rand
	list []acceptance
}

func (s *randomServer) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.IntN(n)
}

func (s *randomServer) accept(zone string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, acceptance{time.Now(), zone})
}

func (s *randomServer) accepted(zone string) (all []acceptance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.list {
		if zone == "" || a.zone == zone {
			all = append(all, a)
		}
	}
	return all
}

func (s *randomServer) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	pause := func() bool {
		length := time.Duration(s.draw(3)*s.draw(900)) * time.Millisecond
		select {
		case <-time.After(length):
			return true
		case <-ctx.Done():
			return false
		}
	}
	if !pause() {
		return eviction.Outcome{Kind: eviction.Interrupted, NothingDeleted: true}
	}
	nothing := []eviction.Outcome{
		{Kind: eviction.Blocked},
		{Kind: eviction.Refused},
		{Kind: eviction.Unconfirmed},
		{Kind: eviction.NotFound},
		{Kind: eviction.Failed, NothingDeleted: true},
		{Kind: eviction.Throttled, RetryAfter: time.Second},
		{Kind: eviction.Unavailable, NodeRead: true},
	}
	kind := s.draw(3 * len(nothing))
	if kind < len(nothing) {
		return nothing[kind]
	}
	lost := s.draw(4) == 0
	if !lost || s.draw(2) == 0 {
		s.accept(e.Pod.Node)
	}
	switch ended := pause(); {
	case !ended:
		return eviction.Outcome{Kind: eviction.Interrupted}
	case lost:
		return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseTimeout}
	}
	return eviction.Outcome{Kind: eviction.Accepted}
}

// TestNoRateIsExceeded plays a pool with three shards, random outcomes and lengths of calls, reloads, pauses and terms
// of leadership, and compares what the server has accepted with the rates.
func TestNoRateIsExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rates := []policy.Rate{
			{Name: "cluster", EvictionsPerSecond: rapid.SampledFrom([]float64{0.3, 2, 5}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 6).Draw(rt, "burst")},
			{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: rapid.SampledFrom([]float64{0.2, 1, 3}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 4).Draw(rt, "burst")},
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		s := &randomServer{r: rand.New(rand.NewPCG(seed, 0))}
		synctest.Test(t, func(t *testing.T) { play(t, s, rates) })
		s.keeps(rt, rates)
	})
}

// keeps fails if the server has accepted more than a rate of the cluster, and one of zones, permit.
func (s *randomServer) keeps(t *rapid.T, rates []policy.Rate) {
	if why := exceeds(s.accepted(""), rates[0]); why != "" {
		t.Fatal(why)
	}
	for _, zone := range []string{"a", "b"} {
		if why := exceeds(s.accepted(zone), rates[1]); why != "" {
			t.Fatalf("zone %s: %s", zone, why)
		}
	}
}

// tighter returns the same rates with lower limits. Windows across a reload are bounded by the looser ones.
func tighter(rates []policy.Rate) []policy.Rate {
	tight := slices.Clone(rates)
	for i := range tight {
		tight[i].EvictionsPerSecond, tight[i].Burst = tight[i].EvictionsPerSecond/2, 1
	}
	return tight
}

// play runs a pool for two minutes.
func play(t *testing.T, s *randomServer, rates []policy.Rate) {
	p := NewPool(PoolOptions{Evictor: s, Workers: 1 + s.draw(8), Rates: rates})
	end := lead(t, p)
	runShards(t, p, 1000, func(eviction.Outcome) {}, "a", "b", "a")
	for range 20 {
		time.Sleep(time.Duration(s.draw(12000)) * time.Millisecond)
		end = s.disturb(t, p, rates, end)
	}
	end()
}

// disturb may reload, pause or resume, or begin another term; it returns the end of the term.
func (s *randomServer) disturb(t *testing.T, p *Pool, rates []policy.Rate, end func()) func() {
	switch s.draw(6) {
	case 0:
		p.SetRates(tighter(rates))
	case 1:
		p.SetRates(rates)
	case 2:
		p.SetPaused(s.draw(2) == 0)
	case 3:
		end()
		time.Sleep(time.Duration(s.draw(2000)) * time.Millisecond)
		return lead(t, p)
	}
	return end
}

// exceeds returns which window has more deletions than the rate permits, or "".
func exceeds(all []acceptance, r policy.Rate) string {
	for i := range all {
		for j := i; j < len(all); j++ {
			window := all[j].at.Sub(all[i].at).Seconds()
			if n := j - i + 1; float64(n) > float64(r.Burst)+r.EvictionsPerSecond*window+1e-9 {
				return fmt.Sprintf("%d deletions in %v s, at %v a second with a burst of %d", n, window, r.EvictionsPerSecond, r.Burst)
			}
		}
	}
	return ""
}
