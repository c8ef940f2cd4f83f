package shard_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
)

// ratedSlots are slots whose calls take tokens. Each call lasts a second, and ends with the outcome of its pod.
type ratedSlots struct {
	permits  chan shard.Permit
	outcomes map[types.UID]eviction.Kind
	epoch    time.Time

	mu      sync.Mutex
	rates   *guard.Rates
	changed chan struct{}
	tries   int
	started []string
}

func newRatedSlots(r policy.Rate) *ratedSlots {
	return &ratedSlots{
		permits: make(chan shard.Permit), outcomes: map[types.UID]eviction.Kind{}, epoch: time.Now(),
		rates: guard.NewRates(time.Now(), []policy.Rate{r}), changed: make(chan struct{}),
	}
}

func (s *ratedSlots) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case s.permits <- &ratedPermit{slots: s}:
		case <-ctx.Done():
		}
	}
}

func (s *ratedSlots) ratesChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// ratedPermit is one permission to start a call.
type ratedPermit struct {
	slots  *ratedSlots
	tokens guard.Tokens
}

func (p *ratedPermit) Take(key string, labels map[string]string) (wait guard.Wait) {
	p.slots.mu.Lock()
	defer p.slots.mu.Unlock()
	p.slots.tries++
	p.tokens, wait = p.slots.rates.Take(time.Now(), key, labels)
	return wait
}

func (p *ratedPermit) Release() {}

func (p *ratedPermit) Start(e eviction.Request, done func(eviction.Outcome)) {
	s := p.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = append(s.started, string(e.Pod.UID)+" at "+time.Since(s.epoch).String())
	time.AfterFunc(time.Second, func() {
		s.mu.Lock()
		kind := s.outcomes[e.Pod.UID]
		if kind == eviction.Accepted {
			p.tokens.Keep(time.Now())
		} else {
			p.tokens.Return()
		}
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		done(eviction.Outcome{Kind: kind, Cause: eviction.CausePDB})
	})
}

func TestAShardTriesAgainWhenATokenIsGivenBackAndWhenOneIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(), newRatedSlots(policy.Rate{Name: "cluster", EvictionsPerSecond: 0.1, Burst: 1})
		s.outcomes["a"], s.outcomes["b"], s.outcomes["c"] = eviction.Blocked, eviction.Accepted, eviction.Accepted
		ctx, cancel := context.WithCancel(t.Context())
		sh := shard.New(shard.Options{
			Reader: w, Permits: s.permits, MaxInFlight: 3, Notify: func(eviction.Note) {}, RatesChanged: s.ratesChanged,
		})
		var all sync.WaitGroup
		all.Go(func() { s.run(ctx) })
		all.Go(func() { sh.Run(ctx) })
		for _, uid := range []types.UID{"a", "b", "c"} {
			w.bind(uid, "n", 0)
		}
		w.taintNode("n", "gpu", time.Now())
		sh.NodeChanged("n")
		time.Sleep(5 * time.Second)
		if n := sh.WaitingByRate()["cluster"]; n != 3 || sh.Scheduled() != 3 {
			t.Errorf("%d wait for a rate, want 3", n)
		}
		time.Sleep(20 * time.Second)
		w.remove("a")
		sh.PodChanged("a")
		time.Sleep(time.Minute)
		cancel()
		all.Wait()
		// b has the token that a gave back, and c the one that fills up ten seconds after b's deletion was accepted.
		if len(s.started) < 3 || s.started[0] != "a at 10s" || s.started[1] != "b at 11s" {
			t.Errorf("started %v", s.started)
		}
		if last := s.started[len(s.started)-1]; last != "c at 22s" {
			t.Errorf("started %v, want c last", s.started)
		}
		if s.tries > 40 {
			t.Errorf("%d tries for %d calls", s.tries, len(s.started))
		}
	})
}
