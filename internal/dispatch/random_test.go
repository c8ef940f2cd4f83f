package dispatch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// randomServer ends calls after any time, with any outcome. It notes the tokens that calls for each node have spent.
type randomServer struct {
	mu     sync.Mutex
	r      *rand.Rand
	calls  map[types.UID]bool
	tokens map[string][]spending
}

// spending is how many tokens were spent at a moment, less those that came back.
type spending struct {
	at time.Time
	n  int
}

func newRandomServer(seed uint64) *randomServer {
	return &randomServer{r: rand.New(rand.NewPCG(seed, 0)), calls: map[types.UID]bool{}, tokens: map[string][]spending{}}
}

func (r *randomServer) draw(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.IntN(n)
}

// spend notes a token, of the node and of the cluster.
func (r *randomServer) spend(node string, n int) {
	for _, of := range []string{node, ""} {
		all := r.tokens[of]
		if now := time.Now(); len(all) == 0 || !all[len(all)-1].at.Equal(now) {
			all = append(all, spending{at: now})
		}
		all[len(all)-1].n += n
		r.tokens[of] = all
	}
}

func (r *randomServer) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	r.mu.Lock()
	if r.calls[e.Pod.UID] {
		panic("two calls for a pod at once")
	}
	r.calls[e.Pod.UID] = true
	r.spend(e.Pod.Node, 1)
	r.mu.Unlock()
	select {
	case <-time.After(time.Duration(r.draw(3)*r.draw(900)) * time.Millisecond):
	case <-ctx.Done():
		return eviction.Outcome{Kind: eviction.Interrupted, NothingDeleted: r.draw(2) == 0}
	}
	some := []eviction.Outcome{
		{Kind: eviction.Blocked},
		{Kind: eviction.Refused},
		{Kind: eviction.Unconfirmed},
		{Kind: eviction.NotFound},
		fails, timesOut, unreachable,
		{Kind: eviction.Throttled, RetryAfter: time.Second},
		{Kind: 0},
		{Kind: eviction.Failed, Cause: eviction.CausePanic},
	}
	o := succeeds
	if i := r.draw(2 * len(some)); i < len(some) {
		o = some[i]
	}
	if o.Cause == eviction.CausePanic {
		panic("oh")
	}
	return o
}

// ended notes the tokens that come back.
func (r *randomServer) ended(e eviction.Request, o eviction.Outcome, _ time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[e.Pod.UID] && !o.MayHaveDeleted() {
		r.spend(e.Pod.Node, -1)
	}
	delete(r.calls, e.Pod.UID)
}

// exceeds returns which window has more calls than the rate permits, or "".
func exceeds(all []spending, r policy.Rate) string {
	for i := range all {
		n := 0
		for j := i; j < len(all); j++ {
			n += all[j].n
			if window := all[j].at.Sub(all[i].at).Seconds(); float64(n) > float64(r.Burst)+r.EvictionsPerSecond*window+1e-9 {
				return fmt.Sprintf("rate %s: %d calls in %v s, at %v a second with a burst of %d", r.Name, n, window, r.EvictionsPerSecond, r.Burst)
			}
		}
	}
	return ""
}

// tighter returns the same rates with lower limits. Windows across a reload are bounded by the looser rates.
func tighter(rates []policy.Rate) (all []policy.Rate) {
	for _, r := range rates {
		r.EvictionsPerSecond, r.Burst = r.EvictionsPerSecond/2, 1
		all = append(all, r)
	}
	return all
}

// play runs a dispatcher through reloads, pauses, terms and answers of watches, and then until all pods are gone.
func (r *randomServer) play(t *testing.T, rates []policy.Rate) (problem string) {
	slots := 1 + r.draw(8)
	var u *user
	u = newUser(t, Options{CoreOptions: CoreOptions{Workers: slots + r.draw(4), Rates: rates}, Evictor: r, Ended: r.ended, Read: func(_ context.Context, node string) {
		u.NodeRead(node, time.Now(), []eviction.Outcome{unreachable, timesOut, succeeds}[r.draw(3)])
	}})
	const pods = 40
	u.taint, u.again = "down", func(o eviction.Outcome) bool { return o.Kind != eviction.Accepted }
	u.offer(pods)
	end := u.lead()
	for range 20 {
		time.Sleep(time.Duration(r.draw(4000)) * time.Millisecond)
		switch r.draw(7) {
		case 0:
			u.SetRates(tighter(rates), slots)
		case 1:
			u.SetRates(rates, 1+r.draw(slots))
		case 2:
			u.SetPaused(r.draw(2) == 0)
		case 3:
			end()
			time.Sleep(time.Duration(r.draw(2000)) * time.Millisecond)
			end = u.lead()
		case 4:
			u.ServerAnswered()
		}
	}
	u.SetRates(rates, slots)
	u.SetPaused(false)
	time.Sleep(time.Hour)
	end()
	gone := 0
	for uid, outcomes := range u.reported {
		if u.Settle(uid) != nil && outcomes[len(outcomes)-1].Kind == eviction.Accepted {
			gone++
		}
	}
	if c := u.core; gone != pods || c.InFlight()+c.Waiting()+len(c.entries) != 0 {
		return fmt.Sprintf("%d of %d pods are gone; %d calls, %d entries", gone, pods, c.InFlight(), len(c.entries))
	}
	return ""
}

func TestEachPodGoesNoPlaceIsLostAndNoRateIsExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rates := []policy.Rate{
			{Name: "cluster", EvictionsPerSecond: rapid.SampledFrom([]float64{0.3, 2, 5}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 6).Draw(rt, "burst")},
			{Name: "nodes", TopologyKey: "node", EvictionsPerSecond: rapid.SampledFrom([]float64{0.2, 1, 3}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 4).Draw(rt, "burst")},
		}
		s := newRandomServer(rapid.Uint64().Draw(rt, "seed"))
		problem := ""
		synctest.Test(t, func(t *testing.T) { problem = s.play(t, rates) })
		for of, rate := range map[string]policy.Rate{"": rates[0], "node0": rates[1], "node1": rates[1]} {
			if problem == "" {
				problem = exceeds(s.tokens[of], rate)
			}
		}
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}
