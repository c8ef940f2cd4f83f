package shard_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// slots permits as many calls at once as it has, and notes when each began.
type slots struct {
	permits chan shard.Permit
	free    chan struct{}
	lasts   time.Duration
	outcome eviction.Outcome

	mu      sync.Mutex
	started map[types.UID]time.Duration // since the start of the test
	methods map[types.UID]policy.Method
	epoch   time.Time
}

func newSlots(n int, lasts time.Duration) *slots {
	s := &slots{
		permits: make(chan shard.Permit), free: make(chan struct{}, n), lasts: lasts,
		outcome: eviction.Outcome{Kind: eviction.Accepted},
		started: map[types.UID]time.Duration{}, methods: map[types.UID]policy.Method{}, epoch: time.Now(),
	}
	for range n {
		s.free <- struct{}{}
	}
	return s
}

// run offers a permit whenever there is a free slot.
func (s *slots) run(ctx context.Context) {
	for {
		select {
		case <-s.free:
		case <-ctx.Done():
			return
		}
		select {
		case s.permits <- s:
		case <-ctx.Done():
			return
		}
	}
}

func (s *slots) Take(string, map[string]string) guard.Wait { return guard.Wait{} }

func (s *slots) Release() { s.free <- struct{}{} }

func (s *slots) Start(e eviction.Request, done func(eviction.Outcome)) {
	s.mu.Lock()
	s.started[e.Pod.UID], s.methods[e.Pod.UID] = time.Since(s.epoch), e.Method
	s.mu.Unlock()
	time.AfterFunc(s.lasts, func() {
		s.free <- struct{}{}
		done(s.outcome)
	})
}

// calls returns the calls that have started, and when.
func (s *slots) calls() map[types.UID]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.started)
}

func (s *slots) methodOf(uid types.UID) (m policy.Method, started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, started = s.methods[uid]
	return m, started
}

// running starts a shard over the world, in a bubble of virtual time.
func running(t *testing.T, w *world, s *slots) *shard.Shard {
	ctx, cancel := context.WithCancel(context.Background())
	sh := shard.New(shard.Options{Reader: w, Permits: s.permits, MaxInFlight: cap(s.free), Notify: func(eviction.Note) {}})
	var all sync.WaitGroup
	all.Go(func() { s.run(ctx) })
	all.Go(func() { sh.Run(ctx) })
	t.Cleanup(func() {
		time.Sleep(time.Hour) // virtual: what is under way ends
		cancel()
		all.Wait()
	})
	return sh
}

// bind adds a pod that tolerates the taint gpu for this long, bound now.
func (w *world) bind(uid types.UID, node string, seconds int64) {
	w.add(uid, bears("gpu", seconds))
	w.change(uid, func(pod *taint.Pod) { pod.Node, pod.Bound = node, time.Now() })
}

func TestAShardStartsEachCallAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(), newSlots(32, time.Millisecond)
		sh := running(t, w, s)
		w.bind("a", "n", 4)
		w.bind("b", "n", 2)
		w.bind("c", "n", 0)
		w.taintNode("n", "gpu", time.Now())
		sh.NodeChanged("n")
		time.Sleep(time.Minute)
		want := map[types.UID]time.Duration{"a": 4 * time.Second, "b": 2 * time.Second, "c": 0}
		if diff := cmp.Diff(want, s.calls()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhatIsReportedBeforeRunIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(), newSlots(32, time.Millisecond)
		w.bind("a", "n", 0)
		w.taintNode("n", "gpu", time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		sh := shard.New(shard.Options{Reader: w, Permits: s.permits, MaxInFlight: 32, Notify: func(eviction.Note) {}})
		sh.NodeChanged("n")
		sh.NodeChanged("n")
		sh.PodChanged("a")
		go s.run(ctx)
		go sh.Run(ctx)
		time.Sleep(time.Second)
		cancel()
		if len(s.calls()) != 1 {
			t.Errorf("started %v, want a", s.calls())
		}
	})
}

func TestWhatIsDueWaitsForASlotAndCanStillBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(), newSlots(1, 10*time.Second)
		sh := running(t, w, s)
		for _, uid := range []types.UID{"a", "b", "c"} {
			w.bind(uid, "n", 0)
		}
		w.taintNode("n", "gpu", time.Now())
		sh.NodeChanged("n")
		time.Sleep(15 * time.Second)
		w.lift("gpu")
		sh.NodeChanged("n")
		time.Sleep(time.Minute)
		if len(s.calls()) != 2 {
			t.Errorf("started %v, want two of three: the third was cancelled while it waited", s.calls())
		}
		if n := sh.Scheduled(); n != 0 {
			t.Errorf("%d are scheduled, want none", n)
		}
	})
}

func TestANewJudgeCountsBeforeTheEventsThatFollowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(), newSlots(32, time.Millisecond)
		sh := running(t, w, s)
		w.bind("a", "n", 10)
		w.taintNode("n", "gpu", time.Now())
		sh.NodeChanged("n")
		time.Sleep(time.Second)
		sh.SetJudge(judgeOf(t, of("gpu", policy.Delete)))
		sh.SetJudge(judgeOf(t, of("gpu", policy.Hold)))
		if views, err := sh.Views(t.Context()); err != nil || len(views) != 1 || views[0].Held.Name != "gpu" {
			t.Errorf("got %+v, %v", views, err)
		}
		sh.NodeChanged("n")
		time.Sleep(time.Minute)
		if len(s.calls()) != 0 || sh.Scheduled() != 0 || sh.Held() != 1 {
			t.Errorf("started %v, scheduled %d, held %d, want one held", s.calls(), sh.Scheduled(), sh.Held())
		}
		sh.SetJudge(policy.Judge{})
		sh.NodeChanged("n")
		time.Sleep(time.Minute)
		if want := 61 * time.Second; s.calls()["a"] != want || sh.Held() != 0 {
			t.Errorf("started %v, held %d, want a at %v", s.calls(), sh.Held(), want)
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
		synctest.Test(t, func(t *testing.T) {
			w, s := newWorld(), newSlots(1, time.Millisecond)
			w.bind("a", "n", 0)
			w.taintNode("n", "gpu", time.Now())
			ctx, cancel := context.WithCancel(t.Context())
			sh := shard.New(shard.Options{
				Reader: w, Permits: s.permits, MaxInFlight: 1, Notify: func(eviction.Note) {},
				Judge: judgeOf(t, of(c.policy, policy.Evict)), OwnMethod: c.own,
			})
			sh.NodeChanged("n")
			go s.run(ctx)
			go sh.Run(ctx)
			time.Sleep(time.Second)
			cancel()
			if got, ok := s.methodOf("a"); !ok || got != c.want {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		})
	}
}

func TestAnIdleShardSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(), newSlots(1, time.Second)
		sh := running(t, w, s)
		w.bind("a", "n", 3600)
		w.taintNode("n", "gpu", time.Now())
		sh.NodeChanged("n")
		// In a bubble, virtual time only goes on once every goroutine waits: a shard that spins
		// would keep this from ever returning.
		time.Sleep(time.Minute)
		if len(s.calls()) != 0 || sh.Scheduled() != 1 {
			t.Errorf("started %v, scheduled %d", s.calls(), sh.Scheduled())
		}
	})
}

func TestOneNodesThousandPodsDoNotKeepAnothersWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(), newSlots(1, time.Second)
		sh := running(t, w, s)
		for i := range 1000 {
			w.bind(types.UID("crowd-"+string(rune('a'+i%26))+string(rune('a'+i/26))), "n", 0)
		}
		w.bind("single", "m", 5)
		w.taintNode("n", "gpu", time.Now())
		w.taintNode("m", "gpu", time.Now())
		sh.NodeChanged("n")
		sh.NodeChanged("m")
		time.Sleep(time.Hour)
		if late := s.calls()["single"] - 5*time.Second; late < 0 || late > 2*time.Second {
			t.Errorf("the single pod's call started %v after its deadline, want within two calls", late)
		}
		if len(s.calls()) != 1001 {
			t.Errorf("%d calls, want 1001", len(s.calls()))
		}
	})
}

func TestNodesAreSpreadOverShardsAndStayWhereTheyAre(t *testing.T) {
	if got := shard.Index("node-1", 8); got != 3 {
		t.Errorf("node-1 is owned by shard %d, want 3 as ever", got)
	}
	count := map[int]int{}
	for i := range 1000 {
		name := "node-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		count[shard.Index(name, 8)]++
	}
	for i := range 8 {
		if count[i] < 60 {
			t.Errorf("shard %d owns %d of 1000 nodes", i, count[i])
		}
	}
}
