package shard_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// ratePlay plays with rates, whose tokens the calls take with them.
type ratePlay struct {
	*play
	rates  *guard.Rates
	tokens map[types.UID]guard.Tokens
	last   guard.Tokens
	takes  int

	started *eviction.Request
	blocks  bool // every eviction request in goes
}

func newRatePlay(t *testing.T, rates ...policy.Rate) *ratePlay {
	return &ratePlay{play: newPlay(t), rates: guard.NewRates(at(0), rates), tokens: map[types.UID]guard.Tokens{}}
}

// permit permits a call, and returns whose call starts; "" if none does.
func (p *ratePlay) permit(second float64) types.UID {
	start := p.step(second, shard.Permitted{Take: p.take(second)})
	if start == nil {
		return ""
	}
	p.tokens[start.Pod.UID], p.started = p.last, start
	return start.Pod.UID
}

// take returns a permit's Take, which leaves the tokens in p.last.
func (p *ratePlay) take(second float64) func(string, map[string]string) guard.Wait {
	return func(key string, labels map[string]string) (wait guard.Wait) {
		p.takes++
		p.last, wait = p.rates.Take(at(second), key, labels)
		return wait
	}
}

// ended ends a call; its tokens are kept if its deletion was accepted.
func (p *ratePlay) ended(second float64, uid types.UID, o eviction.Outcome) {
	if o.Kind == eviction.Accepted {
		p.tokens[uid].Keep(at(second))
	} else {
		p.tokens[uid].Return()
	}
	delete(p.tokens, uid)
	p.play.ended(second, uid, o)
}

// zoned puts a node into a zone, with pods that are due at second 0.
func (p *ratePlay) zoned(node, zone string, pods int) {
	p.taintNode(node, "gpu", at(0))
	p.mu.Lock()
	n := p.nodes[node]
	n.Labels = map[string]string{"zone": zone}
	p.nodes[node] = n
	p.mu.Unlock()
	for i := range pods {
		uid := types.UID(fmt.Sprint(node, "-", i))
		p.add(uid)
		p.change(uid, func(pod *taint.Pod) { pod.Node = node })
	}
	p.step(0, shard.NodeChanged{Name: node})
}

// goes accepts every call until that second, in steps of 10 ms, and returns what went when: "n-0 at 1".
func (p *ratePlay) goes(until float64) (list []string) {
	for second := 0.0; second <= until; second += 0.01 {
		if at, ok := p.core.Next(); !ok || at.After(zero.Add(time.Duration(second*float64(time.Second)))) {
			continue
		}
		for uid := p.permit(second); uid != ""; uid = p.permit(second) {
			if p.blocks && p.started.Method == policy.Evict {
				p.ended(second, uid, blocked)
				p.step(second, shard.RatesChanged{})
				continue
			}
			list = append(list, fmt.Sprintf("%s at %.0f", uid, second))
			p.ended(second, uid, eviction.Outcome{Kind: eviction.Accepted})
		}
	}
	return list
}

func TestEvictionsStartAtTheRateAndNotFaster(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "cluster", EvictionsPerSecond: 0.5, Burst: 1})
	p.zoned("n", "a", 4)
	if got, want := p.goes(10), []string{"n-0 at 2", "n-1 at 4", "n-2 at 6", "n-3 at 8"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if p.core.Scheduled() != 0 || p.core.WaitingForRate() != 0 {
		t.Errorf("%d scheduled, %d wait for a rate", p.core.Scheduled(), p.core.WaitingForRate())
	}
}

func TestAGroupThatWaitsForItsRateHoldsUpNoOther(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 0.5, Burst: 1})
	p.zoned("n", "a", 2)
	p.zoned("m", "b", 2)
	want := []string{"m-0 at 2", "m-1 at 4", "n-0 at 2", "n-1 at 4"}
	got := p.goes(5)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A thousand pods that wait cost one try when a token may be there.
func TestOneEvictionOfAGroupTriesAtATime(t *testing.T) {
	p := newRatePlay(t,
		policy.Rate{Name: "cluster", EvictionsPerSecond: 2, Burst: 2}, policy.Rate{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 1})
	p.zoned("n", "a", 500)
	p.zoned("m", "b", 500)
	if uid := p.permit(0); uid != "" || p.core.WaitingForRate() != 1000 {
		t.Fatalf("started %q, and %d wait, want all", uid, p.core.WaitingForRate())
	}
	p.takes = 0
	if got := len(p.goes(100)); got < 190 || p.takes > 5*got {
		t.Errorf("%d went, by %d tries", got, p.takes)
	}
}

// Each of them has tokens of its own, as with a rate for each node. A call that is blocked gives its token back, twenty
// times a second.
func TestBlockedCallsOfManyGroupsDoNotMakeAllOthersTryEachTime(t *testing.T) {
	const groups, seconds = 500, 10
	p := newRatePlay(t, policy.Rate{Name: "nodes", TopologyKey: "zone", EvictionsPerSecond: 0.001, Burst: 1})
	for i := range groups {
		p.zoned(fmt.Sprint("n", i), fmt.Sprint("z", i), 1)
	}
	p.permit(0)
	for tick := range 20 * seconds {
		now := 1 + float64(tick)/20
		p.step(now, shard.RatesChanged{})
		if at, ok := p.core.Next(); ok && !at.After(zero.Add(time.Duration(now*float64(time.Second)))) {
			p.permit(now)
		}
	}
	if p.takes > groups*(1+seconds*10) || p.takes < groups*seconds*4 {
		t.Errorf("%d tries of %d groups in %d s", p.takes, groups, seconds)
	}
}

func TestWhatWaitsForARateIsDueAndShowsIt(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "cluster", EvictionsPerSecond: 0.1, Burst: 1})
	p.zoned("n", "a", 3)
	p.permit(1)
	if p.core.Scheduled() != 3 {
		t.Errorf("%d are scheduled, want 3", p.core.Scheduled())
	}
	views := p.core.Views(at(1))
	for _, v := range views {
		if v.State != eviction.Due || v.WaitsForRate != "cluster" || !v.Next.Equal(at(10)) || !v.Verdict.At.Equal(at(0)) {
			t.Errorf("got %+v", v)
		}
	}
	if h := p.core.Tracked("n-1"); len(views) != 3 || !h.Queued || !h.Deadline.Equal(at(0)) {
		t.Errorf("%d views, tracked as %+v", len(views), h)
	}
}

func TestWhatWaitsForARateIsCancelledLikeAllElse(t *testing.T) {
	for name, change := range map[string]func(p *ratePlay){
		"the taint is lifted":               func(p *ratePlay) { p.lift("gpu"); p.nodeChanged(2) },
		"the taint is lifted, not told yet": func(p *ratePlay) { p.lift("gpu") },
		"the pods are gone": func(p *ratePlay) {
			for i := range 3 {
				uid := types.UID(fmt.Sprint("n-", i))
				p.remove(uid)
				p.podChanged(2, uid)
			}
		},
		"the pods are held": func(p *ratePlay) {
			p.step(2, shard.Reconfigured{Judge: judgeOf(p.t, of("gpu", policy.Hold))})
			p.nodeChanged(2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRatePlay(t, policy.Rate{Name: "cluster", EvictionsPerSecond: 0.1, Burst: 1})
			p.zoned("n", "a", 3)
			p.permit(1)
			change(p)
			for second := range 60 {
				if uid := p.permit(float64(second)); uid != "" {
					t.Errorf("started %s", uid)
				}
			}
			if p.core.Scheduled() != 0 || p.core.WaitingForRate() != 0 {
				t.Errorf("%d scheduled, %d wait for a rate", p.core.Scheduled(), p.core.WaitingForRate())
			}
		})
	}
}

func TestTheRestOfAGroupGoesOnWithoutTheOneThatTries(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "cluster", EvictionsPerSecond: 0.1, Burst: 1})
	p.zoned("n", "a", 3)
	p.permit(1)
	p.remove("n-0")
	p.podChanged(2, "n-0")
	if got, want := p.goes(21), []string{"n-1 at 10", "n-2 at 20"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestATokenThatIsGivenBackIsTakenOnceTheShardHearsOfIt(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "cluster", EvictionsPerSecond: 0.001, Burst: 1})
	p.zoned("n", "a", 2)
	if uid := p.permit(1000); uid != "n-0" {
		t.Fatalf("started %q", uid)
	}
	if uid := p.permit(1000); uid != "" {
		t.Fatalf("started %q without a token", uid)
	}
	if _, ok := p.core.Next(); ok {
		t.Error("it is tried again at a time, though only the end of the call gives a token back")
	}
	p.ended(1001, "n-0", eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission})
	p.step(1001, shard.RatesChanged{})
	if uid := p.permit(1001); uid != "n-1" {
		t.Errorf("started %q", uid)
	}
}

// After a reload the same rate may count only some of those that have waited for it together.
func TestARateThatCountsFewerTaintsHoldsUpNoOther(t *testing.T) {
	rate := policy.Rate{Name: "cluster", EvictionsPerSecond: 0.001, Burst: 1}
	p := newRatePlay(t, rate)
	p.zoned("n", "a", 2)
	p.taintNode("m", "disk", at(0.5))
	p.add("m-0")
	p.change("m-0", func(pod *taint.Pod) { pod.Node = "m" })
	p.step(0, shard.NodeChanged{Name: "m"})
	if uid := p.permit(1); uid != "" || p.core.WaitingForRate() != 3 {
		t.Fatalf("started %q, and %d wait", uid, p.core.WaitingForRate())
	}
	rate.Taints = []policy.TaintKey{{Key: "gpu"}}
	p.rates.Replace(at(2), []policy.Rate{rate})
	p.step(2, shard.RatesChanged{})
	if uid := p.permit(2); uid != "m-0" {
		t.Errorf("started %q, want the pod that no rate counts any longer", uid)
	}
}

// The deletion because of the node's death has a rate of its own.
func TestAnEvictionThatWaitsForARateIsDeletedWhenItsNodeDies(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "drain", EvictionsPerSecond: 0.001, Burst: 1, Taints: []policy.TaintKey{{Key: "gpu"}}})
	p.step(0, shard.Reconfigured{Judge: judgeOf(p.t, of("gpu", policy.Evict))})
	p.zoned("n", "a", 2)
	for _, uid := range []types.UID{"n-0", "n-1"} {
		p.change(uid, func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears(v1.TaintNodeUnreachable, 30)) })
	}
	p.taintNode("n", v1.TaintNodeUnreachable, at(10))
	p.permit(1)
	if got, want := p.goes(60), []string{"n-0 at 40", "n-1 at 40"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A rate delays only what it counts: once a pod may go because of another taint, it does.
func TestAPodThatWaitsForARateGoesBecauseOfAnotherTaintAtItsOwnTime(t *testing.T) {
	slow := func(keys ...string) policy.Rate {
		r := policy.Rate{Name: "slow", EvictionsPerSecond: 0.001, Burst: 1}
		for _, key := range keys {
			r.Taints = append(r.Taints, policy.TaintKey{Key: key})
		}
		return r
	}
	half := policy.Rate{Name: "half", EvictionsPerSecond: 0.025, Burst: 1, Taints: []policy.TaintKey{{Key: "dead"}}}
	for name, c := range map[string]struct {
		gpu, dead policy.Method
		rates     []policy.Rate
		want      []string
	}{
		"two deletions":                         {policy.Delete, policy.Delete, []policy.Rate{slow("gpu")}, []string{"n-0 at 40", "n-1 at 40"}},
		"two eviction requests":                 {policy.Evict, policy.Evict, []policy.Rate{slow("gpu")}, []string{"n-0 at 40", "n-1 at 40"}},
		"an eviction request beside a deletion": {policy.Delete, policy.Evict, []policy.Rate{slow("gpu")}, []string{"n-0 at 40", "n-1 at 40"}},
		"a deletion beside an eviction request": {policy.Evict, policy.Delete, []policy.Rate{slow("gpu")}, []string{"n-0 at 40", "n-1 at 40"}},
		"the other taint has a rate of its own": {policy.Delete, policy.Delete, []policy.Rate{slow("gpu"), half}, []string{"n-0 at 40", "n-1 at 80"}},
		"only the other taint has a rate":       {policy.Delete, policy.Delete, []policy.Rate{slow("dead")}, []string{"n-0 at 1", "n-1 at 1"}},
		"one rate counts both":                  {policy.Delete, policy.Delete, []policy.Rate{slow("gpu", "dead")}, nil},
		"one rate counts all":                   {policy.Delete, policy.Delete, []policy.Rate{slow()}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRatePlay(t, c.rates...)
			p.step(0, shard.Reconfigured{Judge: judgeOf(t, of("gpu", c.gpu), of("dead", c.dead))})
			p.zoned("n", "a", 2)
			for _, uid := range []types.UID{"n-0", "n-1"} {
				p.change(uid, func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears("gpu", 1), bears("dead", 30)) })
			}
			p.taintNode("n", "dead", at(10))
			p.nodeChanged(0)
			got := p.goes(100)
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestAPodThatWaitsForARateShowsTheEarlierTimeOfAnotherTaint(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "slow", EvictionsPerSecond: 0.001, Burst: 1, Taints: []policy.TaintKey{{Key: "gpu"}}})
	p.step(0, shard.Reconfigured{Judge: judgeOf(t, of("gpu", policy.Delete), of("dead", policy.Delete))})
	p.zoned("n", "a", 2)
	p.change("n-0", func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears("dead", 30)) })
	p.change("n-1", func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears("dead", 3000)) })
	p.taintNode("n", "dead", at(10))
	p.nodeChanged(0)
	p.permit(1)
	for _, v := range p.core.Views(at(1)) {
		want := at(1000)
		if v.Pod.UID == "n-0" {
			want = at(40)
		}
		if v.WaitsForRate != "slow" || !v.Next.Equal(want) {
			t.Errorf("%s: waits for rate %q, next %v, want %v", v.Pod.UID, v.WaitsForRate, v.Next, want)
		}
	}
}

// The DELETE by deleteAfter is due first, and waits for the rate of its taint.
func TestADeletionThatWaitsForARateDelaysNoDeletionThatNeedsNoRefusal(t *testing.T) {
	p := newRatePlay(t, policy.Rate{Name: "drain", EvictionsPerSecond: 0.1, Burst: 1, Taints: []policy.TaintKey{{Key: "gpu"}}})
	p.step(0, shard.Reconfigured{Judge: judgeOf(t, deletingAfter(of("gpu", policy.Evict), 5*time.Second))})
	p.zoned("n", "a", 2)
	for _, uid := range []types.UID{"n-0", "n-1"} {
		p.change(uid, func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears("dead", 20)) })
	}
	p.taintNode("n", "dead", at(0))
	p.nodeChanged(0)
	p.blocks = true
	if got, want := p.goes(60), []string{"n-0 at 15", "n-1 at 20"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// In any order of events, a rate delays evictions and loses none.
func TestRatesLoseNoEviction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newRatePlay(t,
			policy.Rate{Name: "cluster", EvictionsPerSecond: 2, Burst: 2}, policy.Rate{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 1},
			policy.Rate{Name: "gpu", EvictionsPerSecond: 0.5, Burst: 1, Taints: []policy.TaintKey{{Key: "gpu"}}})
		for i := range 4 {
			p.zoned(fmt.Sprint("n", i), []string{"a", "b"}[i%2], 3)
		}
		now, calls := 0.0, []types.UID{}
		rt.Repeat(map[string]func(*rapid.T){
			"time passes": func(rt *rapid.T) { now += rapid.Float64Range(0.001, 2).Draw(rt, "seconds") },
			"permit": func(*rapid.T) {
				if uid := p.permit(now); uid != "" {
					calls = append(calls, uid)
				}
			},
			"a call ends": func(rt *rapid.T) {
				if len(calls) == 0 {
					return
				}
				o := rapid.SampledFrom([]eviction.Kind{eviction.Accepted, eviction.Blocked, eviction.Failed}).Draw(rt, "outcome")
				p.ended(now, calls[0], eviction.Outcome{Kind: o})
				calls = calls[1:]
				p.step(now, shard.RatesChanged{})
			},
			"a node changes": func(rt *rapid.T) {
				p.step(now, shard.NodeChanged{Name: fmt.Sprint("n", rapid.IntRange(0, 3).Draw(rt, "node"))})
			},
			"a node gets another taint": func(rt *rapid.T) {
				node := fmt.Sprint("n", rapid.IntRange(0, 3).Draw(rt, "node"))
				p.taintNode(node, rapid.SampledFrom([]string{"disk", "net"}).Draw(rt, "key"), at(now))
				p.step(now, shard.NodeChanged{Name: node})
			},
			"a pod goes": func(rt *rapid.T) {
				uid := types.UID(fmt.Sprintf("n%d-%d", rapid.IntRange(0, 3).Draw(rt, "node"), rapid.IntRange(0, 2).Draw(rt, "pod")))
				if !slices.Contains(calls, uid) {
					p.remove(uid)
					p.podChanged(now, uid)
				}
			},
			"": func(rt *rapid.T) {
				sum := 0
				for rate, n := range p.core.WaitingByRate() {
					if sum += n; n <= 0 {
						rt.Fatalf("%d wait for rate %s", n, rate)
					}
				}
				if sum != p.core.WaitingForRate() {
					rt.Fatalf("%d wait, of them %v by rate", p.core.WaitingForRate(), p.core.WaitingByRate())
				}
				if views := p.core.Views(at(now)); p.core.Scheduled() > len(views) {
					rt.Fatalf("%d scheduled, %d views", p.core.Scheduled(), len(views))
				}
			},
		})
		for _, uid := range calls {
			p.ended(now, uid, eviction.Outcome{Kind: eviction.Failed})
			p.step(now, shard.RatesChanged{})
		}
		for range 200 {
			now += 0.5
			for uid := p.permit(now); uid != ""; uid = p.permit(now) {
				p.ended(now, uid, eviction.Outcome{Kind: eviction.Accepted})
				p.remove(uid)
				p.podChanged(now, uid)
				p.step(now, shard.RatesChanged{})
			}
		}
		for uid := range p.pods {
			if !p.core.Tracked(uid).Accepted {
				rt.Fatalf("%s was not evicted: %+v", uid, p.core.Tracked(uid))
			}
		}
		if p.core.Scheduled() != 0 || p.core.WaitingForRate() != 0 {
			rt.Fatalf("%d scheduled, %d wait for a rate", p.core.Scheduled(), p.core.WaitingForRate())
		}
	})
}
