package shard_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// fleet is eight shards and their dispatcher. Calls for pods of the namespace "others" take some milliseconds, all other
// calls take 30 s and fail.
type fleet struct {
	pods   map[types.UID]*taint.Pod // does not change while the shards run
	onNode map[string][]*taint.Pod
	shards []*shard.Shard

	mu   sync.Mutex
	gone map[types.UID]time.Time // when the deletion was accepted
	bad  string                  // what has broken rule 1, or empty
	d    *dispatch.Dispatcher
	r    *rand.Rand
}

func newFleet() *fleet {
	return &fleet{
		pods: map[types.UID]*taint.Pod{}, onNode: map[string][]*taint.Pod{}, gone: map[types.UID]time.Time{}, r: rand.New(rand.NewPCG(1, 1)),
	}
}

// Pod implements shard.Reader, as PodsOn does. A pod whose deletion was accepted is gone.
func (f *fleet) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pods[uid]
	if _, gone := f.gone[uid]; gone {
		return nil, nil
	}
	return p, nodeOf(p.Node)
}

func (f *fleet) PodsOn(name string) (*taint.Node, []*taint.Pod) { return nodeOf(name), f.onNode[name] }

func nodeOf(name string) *taint.Node {
	down := v1.Taint{Key: "down", Effect: v1.TaintEffectNoExecute}
	return &taint.Node{Name: name, UID: types.UID(name), Taints: []taint.History{{{Taint: down, Since: zero}}}}
}

// add adds pods on twenty nodes, which are due at that second.
func (f *fleet) add(namespace string, n int, second float64) (uids []types.UID) {
	for i := range n {
		uid := types.UID(fmt.Sprint(namespace, "-", i))
		p := &taint.Pod{
			UID: uid, Namespace: namespace, Name: string(uid), Node: fmt.Sprint("node", i%20), Phase: v1.PodRunning, Bound: at(second),
		}
		f.pods[uid], f.onNode[p.Node], uids = p, append(f.onNode[p.Node], p), append(uids, uid)
	}
	return uids
}

// Evict implements dispatch.Evictor.
func (f *fleet) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	f.mu.Lock()
	lasts, outcome := 30*time.Second, eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer, NothingDeleted: true}
	if e.Pod.Namespace == "others" {
		lasts, outcome = 7*time.Millisecond+time.Duration(f.r.IntN(23))*time.Millisecond, accepted
	}
	f.mu.Unlock()
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
		return eviction.Outcome{Kind: eviction.Interrupted}
	}
	if outcome.Kind == eviction.Accepted {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.gone[e.Pod.UID] = time.Now()
	}
	return outcome
}

func (f *fleet) shardOf(node string) *shard.Shard { return f.shards[shard.Index(node, len(f.shards))] }

// run runs eight shards and their dispatcher until that second.
func (f *fleet) run(t *testing.T, second float64) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	f.d = dispatch.New(dispatch.Options{
		CoreOptions: dispatch.CoreOptions{Workers: 32, Leading: func() bool { return true }},
		Evictor:     f, Read: func(context.Context, string) {}, Started: func(eviction.Request) { f.checkPlaces() },
		Ended: func(e eviction.Request, _ eviction.Outcome, _ time.Time) { f.shardOf(e.Pod.Node).PodChanged(e.Pod.UID) },
	})
	for range 8 {
		o := shard.Options{Notify: func(eviction.Note) {}, Overtaken: func(eviction.Overtaken) {}, Held: func(shard.Holding) {}, Drained: func(string) {}}
		o.Reader, o.Dispatcher, o.Judge = f, f.d, func() policy.Judge { return policy.Judge{} }
		s := shard.New(o)
		s.Open()
		f.shards = append(f.shards, s)
	}
	for _, s := range f.shards {
		all.Go(func() { s.Run(ctx) })
	}
	all.Go(func() {
		if err := f.d.Lead(ctx); err != nil {
			t.Error(err)
		}
	})
	for node := range f.onNode {
		f.shardOf(node).NodeChanged(node)
	}
	time.Sleep(time.Until(at(second)))
	cancel()
	all.Wait()
	for _, s := range f.shards {
		s.Close()
	}
}

// checkPlaces notes if more than 3N calls are in flight.
func (f *fleet) checkPlaces() {
	if n := f.d.InFlight(); n > 96 {
		f.mu.Lock()
		f.bad = fmt.Sprintf("%d calls are in flight", n)
		f.mu.Unlock()
	}
}

// waits returns the median and the longest wait after that second.
func (f *fleet) waits(uids []types.UID, second float64) (median, longest float64) {
	var all []float64
	for _, uid := range uids {
		wait := 9999.
		if gone, ok := f.gone[uid]; ok {
			wait = gone.Sub(at(second)).Seconds()
		}
		all = append(all, wait)
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}

// The figures are those of the simulation that the rules were chosen by; shards and timers may add 0.3 s.
func TestNamespacesWhoseCallsHangDelayTheEvictionsOfOthersByASecondOrTwo(t *testing.T) {
	for _, row := range []struct {
		namespaces      int
		gap, later      float64 // between the namespaces, and until the others are due
		median, longest float64
	}{
		{0, 0, 0, .07, .13},
		{1, 0, 0, .13, .24},
		{1, 0, .5, .59, .67},
		{1, 0, 5, .12, .24},
		{1, 0, 120, .12, .24},
		{8, 0, 0, .63, 1.11},
		{8, 0, .5, .78, 1.03},
		{8, 0, 5, .32, .62},
		{40, 0, 0, 2.5, 3.3},
		{40, 0, .5, 2, 2.8},
		{40, 0, 5, 1, 1.9},
		{3, 1.2, .5, .19, .37},
		{3, 2, .5, .19, .37},
		{3, 5, .5, .19, .37},
		{6, 1.2, .5, .63, 1.2},
		{6, 2, .5, .63, 1.2},
		{6, 5, .5, .63, 1.2},
		{8, 1.2, .5, 1.9, 3.6},
		{8, 2, .5, 1.9, 3.6},
		{12, .5, .5, 25, 30},
	} {
		name := fmt.Sprintf("%d namespaces %v s apart, the others %v s later", row.namespaces, row.gap, row.later)
		inBubble(t, name, func(t *testing.T) {
			f := newFleet()
			for i := range row.namespaces {
				f.add(fmt.Sprint("hostile", i), 1000, 1+row.gap*float64(i))
			}
			due := 1 + row.gap*float64(max(row.namespaces, 1)-1) + row.later
			others := f.add("others", 200, due)
			f.run(t, due+40)
			median, longest := f.waits(others, due)
			t.Logf("median %.2f s, longest %.2f s", median, longest)
			if f.bad != "" || median > row.median+.3 || longest > row.longest+.3 {
				t.Errorf("they wait for %.2f s, at most %.2f s, want %v and %v; %s", median, longest, row.median, row.longest, f.bad)
			}
		})
	}
}
