package shard_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// real is a shard and a dispatcher in a bubble of virtual time, which begins at zero. Calls are accepted at once.
type real struct {
	*world
	*shard.Shard
	t          *testing.T
	dispatcher *dispatch.Dispatcher
	lasts      time.Duration                             // of a call
	answer     func(e eviction.Request) eviction.Outcome // to a call; nil: it is accepted
	judge      atomic.Pointer[policy.Judge]

	mu    sync.Mutex
	made  []eviction.Request // calls
	goes  []string           // what was accepted, and when its call began: "n-0 at 1"
	notes []eviction.Note
}

// newReal returns a shard that does not run yet, and a dispatcher that leads.
func newReal(t *testing.T, d dispatch.CoreOptions, core shard.CoreOptions) *real {
	r := &real{world: newWorld(), t: t}
	d.Workers = cmp.Or(d.Workers, 32)
	d.Leading = func() bool { return true }
	r.dispatcher = dispatch.New(dispatch.Options{
		CoreOptions: d, Evictor: r, Started: func(eviction.Request) {},
		Read:  func(_ context.Context, node string) { r.dispatcher.NodeRead(node, time.Now(), accepted) },
		Ended: func(e eviction.Request, _ eviction.Outcome, _ time.Time) { r.PodChanged(e.Pod.UID) },
	})
	o := shard.Options{CoreOptions: core}
	o.Reader, o.Dispatcher = r.world, r.dispatcher
	r.SetJudge(policy.Judge{})
	o.Judge = func() policy.Judge { return *r.judge.Load() }
	o.Overtaken, o.Drained = func(eviction.Overtaken) {}, func(string) {}
	o.Held = func(shard.Holding) {}
	o.Notify = func(n eviction.Note) { r.notes = append(r.notes, n) }
	r.Shard = shard.New(o)
	r.Open()
	t.Cleanup(r.Close)
	r.background(func(ctx context.Context) {
		if err := r.dispatcher.Lead(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// SetJudge replaces the judge of all further steps.
func (r *real) SetJudge(j policy.Judge) { r.judge.Store(&j) }

func (r *real) pending(t *testing.T) shard.Pending {
	t.Helper()
	p, err := r.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// background runs f until the end of the test.
func (r *real) background(f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f(ctx) }()
	r.t.Cleanup(func() { cancel(); <-done })
}

// running returns a shard that runs, with these rates, and the judge of the policies.
func running(t *testing.T, d dispatch.CoreOptions, policies ...policy.Policy) *real {
	r := newReal(t, d, shard.CoreOptions{})
	r.SetJudge(judgeWith(t, policy.Guards{Rates: d.Rates}, policies...))
	r.background(r.Run)
	return r
}

func (r *real) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	began := time.Since(zero).Seconds()
	r.mu.Lock()
	r.made = append(r.made, e)
	r.mu.Unlock()
	select {
	case <-time.After(r.lasts):
	case <-ctx.Done():
		return eviction.Outcome{Kind: eviction.Interrupted}
	}
	o := accepted
	if r.answer != nil {
		o = r.answer(e)
	}
	if o.Kind == eviction.Accepted {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.goes = append(r.goes, fmt.Sprintf("%s at %.0f", e.Pod.UID, began))
	}
	return o
}

// calls returns how many calls were made.
func (r *real) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.made)
}

// sleep lets time pass until that second.
func (r *real) sleep(second float64) {
	time.Sleep(time.Until(at(second)))
	synctest.Wait()
}

// wantGone wants exactly these pods to have gone by that second: "n-0 at 1".
func (r *real) wantGone(second float64, want ...string) {
	r.t.Helper()
	r.sleep(second)
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Sort(r.goes); !slices.Equal(r.goes, want) {
		r.t.Errorf("gone: %v, want %v", r.goes, want)
	}
}

// put binds pods "n-0", "n-1", … to a node in a zone, which has the taint gpu since now. They tolerate gpu for 1 s, and dead
// for 30 s.
func (r *real) put(node, zone string, pods int) {
	r.taintNode(node, "gpu", time.Now())
	r.world.mu.Lock()
	n := r.nodes[node]
	n.Labels = map[string]string{"zone": zone}
	r.nodes[node] = n
	r.world.mu.Unlock()
	for i := range pods {
		uid := types.UID(fmt.Sprint(node, "-", i))
		r.add(uid, bears("gpu", 1), bears("dead", 30))
		r.change(uid, func(pod *taint.Pod) { pod.Node = node })
	}
	r.NodeChanged(node)
}

// bears replaces a pod's tolerations.
func (r *real) bears(uid types.UID, tolerations ...v1.Toleration) {
	r.tolerate(uid, tolerations...)
	r.PodChanged(uid)
}

// view returns the view of a pod.
func (r *real) view(uid types.UID) eviction.View {
	r.t.Helper()
	v, exists, err := r.View(r.t.Context(), uid)
	if err != nil || !exists {
		r.t.Fatalf("no view of %s: %v", uid, err)
	}
	return v
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// In a bubble, virtual time only goes on once every goroutine waits: a shard that spins would keep the test from ending.
func TestAShardOffersEachEvictionAtItsDeadlineAndSleepsUntilThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, dispatch.CoreOptions{})
		r.put("n", "", 4)
		r.bears("n-0", bears("gpu", 4))
		r.bears("n-1", bears("gpu", 2))
		r.bears("n-2")
		r.bears("n-3", bears("gpu", 3600))
		r.wantGone(60, "n-0 at 4", "n-1 at 2", "n-2 at 0")
		if r.Scheduled() != 1 {
			t.Errorf("scheduled %d, want n-3", r.Scheduled())
		}
	})
}

func TestWhatIsReportedBeforeRunIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReal(t, dispatch.CoreOptions{}, shard.CoreOptions{})
		r.put("n", "", 2)
		r.NodeChanged("n")
		r.PodChanged("n-1")
		r.sleep(5)
		r.background(r.Run)
		r.wantGone(10, "n-0 at 5", "n-1 at 5")
	})
}

func TestNoOutcomeWaitsForTheShardAndNoneIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d, busy := newWorld(), newTurns(t), make(chan struct{})
		s := shard.New(shard.Options{
			CoreOptions: shard.CoreOptions{Reader: w, Dispatcher: d, Judge: func() policy.Judge { return policy.Judge{} }},
			Notify:      func(eviction.Note) { <-busy },
		})
		s.Open()
		defer s.Close()
		for i := range 1000 {
			w.add(types.UID(fmt.Sprint(i)))
		}
		w.add("late", bears("gpu", 3600))
		w.taint("gpu", 0)
		s.NodeChanged("n")
		go s.Run(t.Context())
		synctest.Wait()
		offered := maps.Clone(d.waiting)
		for e := d.start(); e != nil; e = d.start() {
			d.ended[e.Pod.UID] = &dispatch.Ended{Request: *e, Outcome: accepted}
		}
		w.tolerate("late", v1.Toleration{Operator: v1.TolerationOpExists})
		s.PodChanged("late")
		synctest.Wait() // the shard reports that, and takes nothing in meanwhile
		for uid := range offered {
			s.PodChanged(uid)
		}
		close(busy)
		synctest.Wait()
		if len(offered) != 1000 || len(d.calls) != 0 {
			t.Errorf("%d of %d outcomes are not settled", len(d.calls), len(offered))
		}
	})
}

func TestANewJudgeCountsBeforeTheEventsThatFollowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, dispatch.CoreOptions{})
		r.put("n", "", 1)
		r.bears("n-0", bears("gpu", 10))
		r.sleep(1)
		r.SetJudge(judgeOf(t, of("gpu", policy.Delete)))
		r.SetJudge(judgeOf(t, of("gpu", policy.Hold)))
		if v := r.view("n-0"); v.Held.Name != "gpu" {
			t.Errorf("got %+v", v)
		}
		r.NodeChanged("n")
		r.wantGone(60)
		if n := statesOf(r.pending(t))[eviction.StateHeld]; r.Scheduled() != 0 || n != 1 {
			t.Errorf("scheduled %d, held %d, want one held", r.Scheduled(), n)
		}
		r.SetJudge(policy.Judge{})
		r.NodeChanged("n")
		r.wantGone(100, "n-0 at 60")
		if n := statesOf(r.pending(t))[eviction.StateHeld]; n != 0 {
			t.Errorf("held %d", n)
		}
	})
}

func TestAnEvictorOfACallersOwnChoosesItsMethodWhereNoPolicyDecides(t *testing.T) {
	for name, c := range map[string]struct {
		own    bool
		policy string
		want   policy.Method
	}{
		"the options choose":  {false, "disk", policy.Delete},
		"the evictor chooses": {true, "disk", ""},
		"a policy chooses":    {true, "gpu", policy.Evict},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := newReal(t, dispatch.CoreOptions{}, shard.CoreOptions{EvictorChooses: c.own})
			r.SetJudge(judgeOf(t, of(c.policy, policy.Evict)))
			r.background(r.Run)
			r.answer = func(e eviction.Request) eviction.Outcome {
				if e.Method != c.want || e.First != (e.Attempt == 1) {
					t.Errorf("call %d: got %q, first %v, want %q", e.Attempt, e.Method, e.First, c.want)
				}
				return blocked
			}
			r.put("n", "", 1)
			r.sleep(5)
			if r.calls() < 2 {
				t.Errorf("%d calls", r.calls())
			}
		})
	}
}

func TestAShardThatDoesNotRunHasNoViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReal(t, dispatch.CoreOptions{}, shard.CoreOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := r.View(ctx, "a"); err == nil {
			t.Error("got no error")
		}
	})
}

func TestNodesAreSpreadOverShardsAndStayWhereTheyAre(t *testing.T) {
	if got := shard.Index("node-1", 8); got != 3 {
		t.Errorf("node-1 is owned by shard %d, want 3 as ever", got)
	}
	count := map[int]int{}
	for i := range 1000 {
		count[shard.Index(fmt.Sprint("node-", i), 8)]++
	}
	for i := range 8 {
		if count[i] < 60 {
			t.Errorf("shard %d owns %d of 1000 nodes", i, count[i])
		}
	}
}
