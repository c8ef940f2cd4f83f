package shard_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
)

// rate returns a rate that counts evictions because of these taints; none stands for all.
func rate(name string, perSecond float64, keys ...string) policy.Rate {
	r := policy.Rate{Name: name, EvictionsPerSecond: perSecond, Burst: 1}
	for _, key := range keys {
		r.Taints = append(r.Taints, policy.TaintKey{Key: key})
	}
	return r
}

// The pods are due at second 1 because of gpu, and at second 40 because of dead.
func TestARateDelaysOnlyWhatItCounts(t *testing.T) {
	zones := rate("zones", 0.02)
	zones.TopologyKey = "zone"
	never, del, evict := rate("never", 0.001, "gpu"), policy.Delete, policy.Evict
	for name, c := range map[string]struct {
		gpu, dead policy.Method // empty: no policy
		rates     []policy.Rate
		want      []string // of node n, and of node m in another zone
	}{
		"two deletions":                         {del, del, []policy.Rate{never}, []string{"n-0 at 40", "n-1 at 40"}},
		"two eviction requests":                 {evict, evict, []policy.Rate{never}, []string{"n-0 at 40", "n-1 at 40"}},
		"an eviction request or a deletion":     {del, evict, []policy.Rate{never}, []string{"n-0 at 40", "n-1 at 40"}},
		"a deletion or an eviction request":     {evict, del, []policy.Rate{never}, []string{"n-0 at 40", "n-1 at 40"}},
		"no policy decides about the other":     {evict, "", []policy.Rate{never}, []string{"n-0 at 40", "n-1 at 40"}},
		"the other taint has a rate of its own": {del, del, []policy.Rate{never, rate("dead", 0.025, "dead")}, []string{"n-0 at 40", "n-1 at 80"}},
		"only the other taint has a rate":       {del, del, []policy.Rate{rate("never", 0.001, "dead")}, []string{"n-0 at 1", "n-1 at 1"}},
		"one rate counts both":                  {del, del, []policy.Rate{rate("never", 0.001, "gpu", "dead")}, nil},
		"one rate counts all":                   {del, del, []policy.Rate{rate("never", 0.001)}, nil},
		"one rate counts all, at its pace":      {del, del, []policy.Rate{rate("cluster", 0.02)}, []string{"n-0 at 50", "n-1 at 100"}},
		"a rate for each zone":                  {del, del, []policy.Rate{zones}, []string{"m-0 at 50", "m-1 at 100", "n-0 at 50", "n-1 at 100"}},
	} {
		inBubble(t, name, func(t *testing.T) {
			var policies []policy.Policy
			for key, m := range map[string]policy.Method{"gpu": c.gpu, "dead": c.dead} {
				if m != "" {
					policies = append(policies, of(key, m))
				}
			}
			r := running(t, dispatch.CoreOptions{Rates: c.rates}, policies...)
			r.put("n", "a", 2)
			if len(c.want) > 2 {
				r.put("m", "b", 2)
			}
			r.taint("dead", 10)
			r.wantGone(110, c.want...)
		})
	}
}

// There is one token at second 20, when both requests are refused, and the next at second 40. The DELETE by deleteAfter is
// due first, at second 25, and that because of dead at second 30.
func TestADeletionThatWaitsForARateDelaysNoDeletionThatNeedsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, dispatch.CoreOptions{Rates: []policy.Rate{rate("drain", 0.05, "gpu")}}, evicting(5*time.Second))
		r.answer = func(e eviction.Request) eviction.Outcome {
			if e.Method == policy.Evict {
				return blocked
			}
			return accepted
		}
		r.put("n", "", 2)
		r.taint("dead", 0)
		r.wantGone(60, "n-0 at 25", "n-1 at 30")
	})
}

func TestAPodThatWaitsForARateShowsTheEarlierTimeOfAnotherTaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, dispatch.CoreOptions{Rates: []policy.Rate{rate("slow", 0.001, "gpu")}})
		r.put("n", "", 2)
		r.bears("n-1", bears("dead", 3000))
		r.taint("dead", 10)
		r.sleep(2)
		for uid, want := range map[types.UID]float64{"n-0": 40, "n-1": 1000} {
			if v := r.view(uid); v.Waits.Rate != "slow" || v.State != eviction.StateDue || !v.Next.Equal(at(want)) {
				t.Errorf("%s: waits for rate %q, next %v, want %v", uid, v.Waits.Rate, v.Next, at(want))
			}
		}
		if waiting := r.pending(t).Rates; waiting["slow"] != 2 {
			t.Errorf("waiting: %v", waiting)
		}
	})
}

// The pod n-0 is due at second 1. Its first call has this outcome, and the second one is accepted.
func TestEachCallNamesWhatExplainsThatItIsLate(t *testing.T) {
	tenth := dispatch.CoreOptions{Rates: []policy.Rate{rate("cluster", 0.1)}}
	paused, plain := dispatch.CoreOptions{Paused: true}, dispatch.CoreOptions{}
	judged := func(r *real, second float64, policies ...policy.Policy) {
		r.sleep(second)
		r.SetJudge(judgeOf(r.t, policies...))
		r.NodeChanged("n")
	}
	hold, throttled := of("gpu", policy.Hold), eviction.Outcome{Kind: eviction.Throttled, RetryAfter: time.Second}
	webhook := failed(eviction.CauseWebhook)
	for name, c := range map[string]struct {
		options dispatch.CoreOptions
		play    func(r *real)
		outcome eviction.Outcome // if it is denied, a token of a rate comes back
		want    [2]eviction.LateBy
	}{
		"nothing": {plain, func(*real) {}, denied, [2]eviction.LateBy{}},
		"a rate":  {tenth, func(*real) {}, denied, both(eviction.LateByRate)},
		"a rate that has a token": {
			tenth, func(r *real) { r.bears("n-0", bears("gpu", 15)) }, denied, [2]eviction.LateBy{},
		},
		"a rate, and a new verdict": {
			tenth, func(r *real) { r.sleep(5); r.bears("n-0", bears("gpu", 2)) }, denied, both(eviction.LateByRate),
		},
		"a hold": {plain, func(r *real) { judged(r, 0.5, hold); judged(r, 5) }, denied, both(eviction.LateByHold)},
		"a hold that ends before": {
			plain, func(r *real) { judged(r, 0.2, hold); judged(r, 0.8) }, denied, [2]eviction.LateBy{},
		},
		"a hold, then a rate": {
			tenth, func(r *real) { judged(r, 0.5, hold); judged(r, 5) }, denied, both(eviction.LateByRate),
		},
		"a pause": {
			paused, func(r *real) { r.sleep(5); r.dispatcher.SetPaused(false) }, denied, both(eviction.LateByHold),
		},
		"a pause that ends before": {
			paused, func(r *real) { r.sleep(0.5); r.dispatcher.SetPaused(false) }, denied, [2]eviction.LateBy{},
		},
		"a pause, then a budget": {
			paused, func(r *real) { r.sleep(5); r.dispatcher.SetPaused(false) }, blocked,
			[2]eviction.LateBy{eviction.LateByHold, eviction.LateByBudget},
		},
		"a rate, before the taint was set again": {tenth, func(r *real) {
			r.sleep(5)
			r.lift("gpu")
			r.NodeChanged("n")
			r.sleep(6)
			r.taint("gpu", 14)
			r.NodeChanged("n")
		}, denied, [2]eviction.LateBy{}},
		"a budget":    {plain, func(*real) {}, blocked, [2]eviction.LateBy{"", eviction.LateByBudget}},
		"a webhook":   {plain, func(*real) {}, webhook, [2]eviction.LateBy{"", eviction.LateBySlowCalls}},
		"an overload": {plain, func(*real) {}, throttled, [2]eviction.LateBy{"", eviction.LateByOutage}},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := running(t, c.options)
			r.answer = func(e eviction.Request) eviction.Outcome {
				if e.Attempt == 1 {
					return c.outcome
				}
				return accepted
			}
			r.put("n", "", 1)
			c.play(r)
			r.sleep(30)
			if r.calls() != 2 || r.made[0].LateBy != c.want[0] || r.made[1].LateBy != c.want[1] {
				t.Errorf("got %+v, want %q", r.made, c.want)
			}
		})
	}
}

func both(by eviction.LateBy) [2]eviction.LateBy { return [2]eviction.LateBy{by, by} }

// A drain that a rate limits is not overdue: the deadlines of its calls under way are as old as those of the others.
func TestACallUnderWayCountsAsWhatItHasWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		options dispatch.CoreOptions
		lasts   time.Duration
	}{
		"a rate":              {dispatch.CoreOptions{Rates: []policy.Rate{rate("slow", 1)}}, 900 * time.Millisecond},
		"a rate, slow calls":  {dispatch.CoreOptions{Rates: []policy.Rate{rate("slow", 1)}}, 1500 * time.Millisecond},
		"a rate of all calls": {dispatch.CoreOptions{CallsPerSecond: 1}, 900 * time.Millisecond},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := running(t, c.options)
			r.lasts = c.lasts
			r.put("n", "", 1000)
			for i := range 100 {
				r.sleep(601 + float64(i)*0.9)
				pending := r.pending(t)
				waiting := pending.Counts[shard.Class{State: eviction.StateDue, Waits: eviction.WaitsForRate}]
				if waiting.N == 0 || waiting.N != statesOf(pending)[eviction.StateDue] || !waiting.Oldest.Equal(at(1)) {
					t.Fatalf("at %v counted are %v", time.Now(), pending.Counts)
				}
			}
		})
	}
}
