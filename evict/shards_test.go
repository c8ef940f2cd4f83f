package evict

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// zonesWithPods is a cache with nodes in two zones, and pods on them.
type zonesWithPods struct {
	mu    sync.Mutex
	nodes map[string]*taint.Node
	pods  map[types.UID]*taint.Pod
}

// newZonesWithPods has nodes whose names begin with their zones, a and b, all tainted now.
func newZonesWithPods(nodes, pods int) *zonesWithPods {
	z := &zonesWithPods{nodes: map[string]*taint.Node{}, pods: map[types.UID]*taint.Pod{}}
	on := taint.History{{Taint: v1.Taint{Key: "drain", Effect: v1.TaintEffectNoExecute}, Since: time.Now()}}
	for i := range nodes {
		zone := []string{"a", "b"}[i%2]
		name := fmt.Sprint(zone, i)
		z.nodes[name] = &taint.Node{Name: name, UID: types.UID(name), Labels: map[string]string{"zone": zone}, Taints: []taint.History{on}}
		for j := range pods {
			uid := types.UID(fmt.Sprint(name, "-", j))
			z.pods[uid] = &taint.Pod{UID: uid, Name: string(uid), Namespace: "ns", Node: name, Phase: v1.PodRunning}
		}
	}
	return z
}

func (z *zonesWithPods) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if pod := z.pods[uid]; pod != nil {
		return pod, z.nodes[pod.Node]
	}
	return nil, nil
}

func (z *zonesWithPods) PodsOn(node string) (*taint.Node, []*taint.Pod) {
	z.mu.Lock()
	defer z.mu.Unlock()
	var on []*taint.Pod
	for _, pod := range z.pods {
		if pod.Node == node {
			on = append(on, pod)
		}
	}
	return z.nodes[node], on
}

func (z *zonesWithPods) left() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return len(z.pods)
}

func (z *zonesWithPods) remove(uid types.UID) {
	z.mu.Lock()
	defer z.mu.Unlock()
	delete(z.pods, uid)
}

// pools is a pool with real shards.
type pools struct {
	*Pool
	cache  *zonesWithPods
	shards []*shard.Shard
	server *randomServer
	offers atomic.Int64
}

// Evict makes a call at the random server; what is accepted leaves the cache a moment later.
func (p *pools) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	zone := *e.Pod
	zone.Node = zone.Node[:1]
	before := len(p.server.accepted(""))
	call := e
	call.Pod = &zone
	o := p.server.Evict(ctx, call)
	if o.Kind == eviction.Accepted && len(p.server.accepted("")) > before {
		time.AfterFunc(10*time.Millisecond, func() {
			p.cache.remove(e.Pod.UID)
			p.of(e.Pod.Node).PodChanged(e.Pod.UID)
		})
	}
	return o
}

func (p *pools) of(node string) *shard.Shard { return p.shards[shard.Index(node, len(p.shards))] }

func newPools(s *randomServer, rates []policy.Rate) *pools {
	p := &pools{cache: newZonesWithPods(5, 6), server: s}
	p.Pool = NewPool(PoolOptions{
		Evictor: p, Workers: 1 + s.draw(8), Rates: rates, Leading: func() bool { p.offers.Add(1); return true },
	})
	for range 3 {
		p.shards = append(p.shards, shard.New(shard.Options{
			Reader: p.cache, Permits: p.Permits(), SlowPermits: p.SlowPermits(), SlowWorkloads: p.SlowWorkloads, RatesChanged: p.RatesChanged,
			MaxInFlight: 100, Notify: func(eviction.Note) {},
		}))
	}
	return p
}

// run runs the shards until the test ends, and reports each node to them.
func (p *pools) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, s := range p.shards {
		running.Go(func() { s.Run(ctx) })
	}
	for name := range p.cache.nodes {
		p.of(name).NodeChanged(name)
	}
	t.Cleanup(func() { cancel(); running.Wait() })
}

// With shards as they are, and random outcomes, reloads, pauses and terms of leadership, no rate is exceeded, every pod
// goes, and nothing spins.
func TestShardsAndRates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rates := []policy.Rate{
			{Name: "cluster", EvictionsPerSecond: rapid.SampledFrom([]float64{0.5, 2, 5}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 6).Draw(rt, "burst")},
			{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: rapid.SampledFrom([]float64{0.3, 1, 3}).Draw(rt, "per second"), Burst: rapid.IntRange(1, 4).Draw(rt, "burst")},
		}
		s := &randomServer{r: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))}
		var left int
		var offers int64
		synctest.Test(t, func(t *testing.T) { left, offers = playShards(t, s, rates) })
		if left > 0 {
			rt.Fatalf("%d pods are left", left)
		}
		if offers > 20_000 {
			rt.Fatalf("%d permits were offered", offers)
		}
		s.keeps(rt, rates)
	})
}

// playShards runs a pool with shards for a minute of changes, and then until all pods can have gone.
func playShards(t *testing.T, s *randomServer, rates []policy.Rate) (left int, offers int64) {
	p := newPools(s, rates)
	end := lead(t, p.Pool)
	p.run(t)
	for range 15 {
		time.Sleep(time.Duration(s.draw(8000)) * time.Millisecond)
		end = s.disturb(t, p.Pool, rates, end)
	}
	p.SetRates(rates)
	p.SetPaused(false)
	for i := 0; i < 100 && p.cache.left() > 0; i++ {
		time.Sleep(10 * time.Second)
	}
	end()
	return p.cache.left(), p.offers.Load()
}
