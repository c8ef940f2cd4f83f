package evict

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// cached is what the cache says: one node, and pods on it by UID.
type cached struct {
	mu   sync.Mutex
	node *taint.Node
	pods map[types.UID]*taint.Pod
}

// change changes what the cache says while others read it.
func (c *cached) change(do func(c *cached)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do(c)
}

func (c *cached) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pods[uid] == nil {
		return nil, nil
	}
	return c.pods[uid], c.node
}

func (c *cached) PodsOn(string) (*taint.Node, []*taint.Pod) { return c.node, nil }

// confirming is a node in the cache and at the API server, and all that is done with it.
type confirming struct {
	*Confirmed
	cache   *cached
	live    *v1.Node
	version string // of the cache's last look
	err     error
	takes   time.Duration // a GET
	writing time.Duration // how long each of two requests of a call takes

	mu   sync.Mutex
	gets []time.Duration // since start
	made []types.UID
	born time.Time
}

// newConfirming has node n1 with the taint "key" since now, and the pod "uid" without tolerations.
func newConfirming() *confirming {
	on := v1.Taint{Key: "key", Effect: v1.TaintEffectNoExecute}
	c := &confirming{born: time.Now(), version: "10"}
	c.cache = &cached{
		node: &taint.Node{Name: "n1", UID: "node", Taints: []taint.History{{{Taint: on, Since: c.born}}}},
		pods: map[types.UID]*taint.Pod{"uid": {UID: "uid", Name: "p", Node: "n1"}},
	}
	c.live = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "node", ResourceVersion: "10"}, Spec: v1.NodeSpec{Taints: []v1.Taint{on}}}
	o := ConfirmOptions{
		Evictor: c, Reader: c.cache, Version: func(string) string { return c.version }, Timeout: time.Minute,
		Judge: func() policy.Judge { return policy.Judge{} }, Clock: machine{},
		PausedSince: func() time.Time { return time.Time{} }, Withdrawn: func(types.UID) bool { return false },
		NodeRead: func(string, time.Time, eviction.Outcome) {},
	}
	c.Confirmed = &Confirmed{ConfirmOptions: o, getNode: c.get, reads: map[string]*nodeRead{}}
	return c
}

func (c *confirming) get(ctx context.Context, _ string) (*v1.Node, error) {
	c.mu.Lock()
	c.gets = append(c.gets, time.Since(c.born))
	node, err, takes := c.live.DeepCopy(), c.err, c.takes
	c.mu.Unlock()
	select {
	case <-time.After(takes):
		return node, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Evict is the call that is confirmed.
func (c *confirming) Evict(_ context.Context, e eviction.Request) eviction.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, e.Pod.UID)
	return eviction.Outcome{Kind: eviction.Accepted}
}

// EvictConfirmed is such a call, of two requests.
func (c *confirming) EvictConfirmed(ctx context.Context, e eviction.Request, confirm Confirmation) eviction.Outcome {
	for range 2 {
		if o, ok := confirm(ctx); !ok {
			return o
		}
		time.Sleep(c.writing)
	}
	return c.Evict(ctx, e)
}

// busy lets more than four calls be under way until the test ends.
func (c *confirming) busy() { c.inFlight.Add(maxUnshared) }

// evict asks for the eviction of a pod by the verdict of the cache.
func (c *confirming) evict(ctx context.Context, uid types.UID) eviction.Outcome {
	pod, node := c.cache.Pod(uid)
	return c.Confirmed.Evict(ctx, eviction.Request{Pod: pod, Verdict: taint.Decide(pod, node, taint.Rules{})})
}

// changing is a cache that changes right after it was read once.
type changing struct {
	*cached
	once sync.Once
	do   func()
}

func (c *changing) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	defer c.once.Do(c.do)
	return c.cached.Pod(uid)
}

// The taint was lifted and set again, which the cache has not shown when it is read for the verdict, and has shown a
// moment later.
func TestAVersionThatComesAfterTheVerdictConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		minute := int64(60)
		c.cache.pods["uid"].Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists, TolerationSeconds: &minute}}
		time.Sleep(2 * time.Minute)
		c.live.ResourceVersion = "12"
		changed := *c.cache.node
		changed.Taints = []taint.History{{{Taint: c.live.Spec.Taints[0], Since: time.Now()}}}
		pod, node := c.cache.Pod("uid")
		request := eviction.Request{Pod: pod, Verdict: taint.Decide(pod, node, taint.Rules{})}
		c.Evictor = plain{c}
		c.Reader = &changing{cached: c.cache, do: func() {
			c.cache.change(func(to *cached) { to.node = &changed })
			c.version = "12"
		}}
		if o := c.Confirmed.Evict(t.Context(), request); o.Kind != eviction.Unconfirmed || len(c.made) != 0 {
			t.Errorf("got %+v, and %d calls", o, len(c.made))
		}
	})
}

func TestAConfirmedEvictionIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Accepted || len(c.made) != 1 || len(c.gets) != 1 {
			t.Errorf("got %+v with %d calls and %d GETs", o, len(c.made), len(c.gets))
		}
	})
}

func TestWhatIsNotConfirmedIsNotEvicted(t *testing.T) {
	later := metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	for name, change := range map[string]func(*confirming){
		"the taint was lifted":                             func(c *confirming) { c.live.Spec.Taints = nil },
		"the taint has another value":                      func(c *confirming) { c.live.Spec.Taints[0].Value = "x" },
		"the taint has another effect":                     func(c *confirming) { c.live.Spec.Taints[0].Effect = v1.TaintEffectNoSchedule },
		"the taint was set again":                          func(c *confirming) { c.live.Spec.Taints[0].TimeAdded = &later },
		"only another taint is there":                      func(c *confirming) { c.live.Spec.Taints[0].Key = "other" },
		"the node was replaced":                            func(c *confirming) { c.live.UID = "another" },
		"the watch has not shown the node's latest change": func(c *confirming) { c.version = "9" },
		"the pod is gone from the cache meanwhile":         func(c *confirming) { c.duringGet(func(c *cached) { delete(c.pods, "uid") }) },
		"the node is gone from the cache meanwhile":        func(c *confirming) { c.duringGet(func(c *cached) { c.node = nil }) },
		"the pod is given a minute meanwhile": func(c *confirming) {
			c.duringGet(func(c *cached) {
				minute := int64(60)
				c.pods["uid"] = &taint.Pod{UID: "uid", Node: "n1", Tolerations: []v1.Toleration{{Key: "key", Operator: v1.TolerationOpExists, TolerationSeconds: &minute}}}
			})
		},
		"the cache has learnt meanwhile that the pod stays": func(c *confirming) { c.duringGet(func(c *cached) { c.node = &taint.Node{Name: "n1", UID: "node"} }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConfirming()
				change(c)
				if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Unconfirmed || o.Message == "" || len(c.made) != 0 {
					t.Errorf("got %+v with %d calls", o, len(c.made))
				}
			})
		})
	}
}

// duringGet makes GETs take a second, and does something in the midst of it.
func (c *confirming) duringGet(do func(c *cached)) {
	c.takes = time.Second
	time.AfterFunc(c.takes/2, func() { c.cache.change(do) })
}

func TestAVersionThatCannotBeComparedIsNoDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.version = ""
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Accepted {
			t.Errorf("got %+v", o)
		}
	})
}

func TestAGetThatFailsConfirmsNothing(t *testing.T) {
	nodes := schema.GroupResource{Resource: "nodes"}
	for name, c := range map[string]struct {
		err  error
		want eviction.Kind
	}{
		"the node is gone":                 {apierrors.NewNotFound(nodes, "n1"), eviction.Unconfirmed},
		"the API server fails":             {apierrors.NewInternalError(fmt.Errorf("etcd")), eviction.Failed},
		"the API server is loaded":         {apierrors.NewTooManyRequests("later", 3), eviction.Throttled},
		"the API server cannot be reached": {&net.OpError{Op: "dial", Err: fmt.Errorf("refused")}, eviction.Unavailable},
		"the permission to get is gone":    {forbidden(), eviction.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newConfirming()
				w.err = c.err
				if o := w.evict(t.Context(), "uid"); o.Kind != c.want || len(w.made) != 0 {
					t.Errorf("got %+v with %d calls", o, len(w.made))
				}
				w.err = nil
				if o := w.evict(t.Context(), "uid"); o.Kind != eviction.Accepted {
					t.Errorf("the failure is still believed: %+v", o)
				}
			})
		})
	}
}

func forbidden() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n1", nil)
	err.ErrStatus.Message = `nodes "n1" is forbidden: User "system:serviceaccount:kube-system:taint-manager" cannot get resource "nodes"`
	return err
}

func TestOneGetServesAllPodsOfTheNodeThatWereDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.takes = 100 * time.Millisecond
		var calls sync.WaitGroup
		for i := range 30 {
			uid := types.UID(fmt.Sprint(i))
			c.cache.pods[uid] = &taint.Pod{UID: uid, Node: "n1"}
		}
		for uid := range c.cache.pods {
			calls.Go(func() { c.evict(t.Context(), uid) })
		}
		calls.Wait()
		if len(c.made) != 31 || len(c.gets) != 1 {
			t.Errorf("got %d calls after %d GETs, want 31 after 1", len(c.made), len(c.gets))
		}
	})
}

func TestWhatIsShownCountsForFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.busy()
		for _, wait := range []time.Duration{0, 5 * time.Second, time.Millisecond} {
			time.Sleep(wait)
			c.evict(t.Context(), "uid")
		}
		if len(c.made) != 3 || len(c.gets) != 2 || c.gets[1] != 5*time.Second+time.Millisecond {
			t.Errorf("got %d calls, GETs at %v", len(c.made), c.gets)
		}
	})
}

func TestAGetOfAnotherNodeForgetsOnlyWhatNoLongerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.busy()
		c.evict(t.Context(), "uid")
		time.Sleep(5 * time.Second)
		if _, err := c.readNode(t.Context(), "n2", time.Now); err != nil {
			t.Fatal(err)
		}
		if c.evict(t.Context(), "uid"); len(c.made) != 2 || len(c.gets) != 2 {
			t.Errorf("got %d calls, GETs at %v", len(c.made), c.gets)
		}
	})
}

// aSecondAfterAGet returns a busy caller whose first call was confirmed by a GET a second ago.
func aSecondAfterAGet(t *testing.T) *confirming {
	c := newConfirming()
	c.busy()
	c.evict(t.Context(), "uid")
	time.Sleep(time.Second)
	return c
}

// not-ready may become unreachable, which a pod does not bear: then it is due for a long time already.
func TestWhatAnOlderGetLacksIsLookedForAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := aSecondAfterAGet(t)
		other := v1.Taint{Key: "other", Effect: v1.TaintEffectNoExecute}
		c.cache.node = &taint.Node{Name: "n1", UID: "node", Taints: []taint.History{{{Taint: other, Since: c.born}}}}
		c.live.Spec.Taints = []v1.Taint{other}
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Accepted || len(c.gets) != 2 {
			t.Errorf("got %+v after GETs at %v", o, c.gets)
		}
	})
}

// A pod that comes to be due while a GET is under way needs one that is sent later: the node may have
// lost its taint, and the pod have been bound for that reason, after the first one was answered.
func TestAPodThatIsDueAfterAGetWasSentWaitsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.busy()
		c.takes = 100 * time.Millisecond
		c.cache.pods["late"] = &taint.Pod{UID: "late", Node: "n1", Bound: c.born.Add(30 * time.Millisecond)}
		var calls sync.WaitGroup
		calls.Go(func() { c.evict(t.Context(), "uid") })
		time.Sleep(30 * time.Millisecond)
		calls.Go(func() { c.evict(t.Context(), "late") })
		calls.Wait()
		if len(c.made) != 2 || len(c.gets) != 2 || c.gets[1] != c.takes {
			t.Errorf("got %d calls, GETs at %v", len(c.made), c.gets)
		}
	})
}

// Its node may have lost the taint since, in a part that the watch has not shown yet: then the old look
// would evict a pod that was edited after that.
func TestAPodThatIsOverdueByAnEditNeedsAGetFromAfterTheEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := aSecondAfterAGet(t)
		c.cache.pods["edited"] = &taint.Pod{UID: "edited", Node: "n1", Bound: c.born, Seen: time.Now()}
		c.live.Spec.Taints, c.live.ResourceVersion = nil, "11"
		if o := c.evict(t.Context(), "edited"); o.Kind != eviction.Unconfirmed || len(c.gets) != 2 {
			t.Errorf("got %+v after GETs at %v", o, c.gets)
		}
	})
}

func TestAPodThatIsEditedWhileTheGetIsUnderWayNeedsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.duringGet(func(cache *cached) {
			cache.pods["uid"] = &taint.Pod{UID: "uid", Node: "n1", Seen: time.Now()}
		})
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Unconfirmed || len(c.made) != 0 {
			t.Errorf("got %+v with %d calls", o, len(c.made))
		}
		c.takes = 0
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Accepted {
			t.Errorf("the next try: got %+v", o)
		}
	})
}

func TestOneWhoseTurnIsCutShortDoesNotHoldUpTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.takes = 100 * time.Millisecond
		c.cache.pods["other"] = &taint.Pod{UID: "other", Node: "n1"}
		ctx, cut := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() {
			if o := c.evict(ctx, "uid"); o.Kind != eviction.Interrupted {
				t.Errorf("cut short: got %+v", o)
			}
		})
		synctest.Wait()
		calls.Go(func() {
			if o := c.evict(t.Context(), "other"); o.Kind != eviction.Accepted {
				t.Errorf("the other: got %+v", o)
			}
		})
		synctest.Wait()
		cut()
		calls.Wait()
	})
}

func TestAGETThatPanicsDoesNotHoldUpTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.takes = 100 * time.Millisecond
		c.cache.pods["other"] = &taint.Pod{UID: "other", Node: "n1"}
		get, panics := c.getNode, true
		c.getNode = func(ctx context.Context, node string) (*v1.Node, error) {
			first := panics
			panics = false
			if n, err := get(ctx, node); !first {
				return n, err
			}
			panic("oh")
		}
		var calls sync.WaitGroup
		calls.Go(func() {
			defer func() { _ = recover() }()
			t.Errorf("got %+v, want a panic", c.evict(t.Context(), "uid"))
		})
		synctest.Wait()
		if o := c.evict(t.Context(), "other"); o.Kind != eviction.Accepted {
			t.Errorf("the other: got %+v", o)
		}
		calls.Wait()
	})
}

func TestNodesThatWereReadAreForgottenWhenTheyNoLongerCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		read := func(node string) {
			if _, err := c.readNode(t.Context(), node, time.Now); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 1000 {
			read(fmt.Sprint("n", i))
			time.Sleep(50 * time.Millisecond)
		}
		remembered := func() int {
			c.Confirmed.mu.Lock()
			defer c.Confirmed.mu.Unlock()
			return len(c.reads)
		}
		if n := remembered(); n > 101 {
			t.Errorf("%d nodes are remembered", n)
		}
		time.Sleep(maxReadAge)
		read("another")
		if n := remembered(); n != 1 {
			t.Errorf("%d nodes are remembered 5 s after the last GET but one", n)
		}
	})
}

func TestOfANodeOnlyWhatCountsIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.evict(t.Context(), "uid")
		want := LiveNode{Sent: c.born, UID: "node", ResourceVersion: "10", Taints: c.live.Spec.Taints}
		if diff := cmp.Diff(want, c.reads["n1"].live); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
}

// A webhook may hold the PATCH for 30 s.
func TestEachRequestRestsOnAGetOfAtMostFiveSeconds(t *testing.T) {
	for takes, gets := range map[time.Duration]int{5 * time.Second: 1, 5*time.Second + 1: 2, 30 * time.Second: 2} {
		synctest.Test(t, func(t *testing.T) {
			c := newConfirming()
			c.writing = takes
			if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Accepted || len(c.gets) != gets {
				t.Errorf("the first request takes %v: got %+v after GETs at %v, want %d", takes, o, c.gets, gets)
			}
		})
	}
}

func TestATaintThatIsLiftedDuringASlowRequestEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.writing = 30 * time.Second
		time.AfterFunc(time.Second, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.live.Spec.Taints, c.live.ResourceVersion = nil, "11"
		})
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Unconfirmed || len(c.made) != 0 {
			t.Errorf("got %+v with %d calls", o, len(c.made))
		}
	})
}

func TestWhatTheCacheLearnsDuringARequestEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.writing = time.Second
		time.AfterFunc(c.writing/2, func() { c.cache.change(func(c *cached) { c.node = &taint.Node{Name: "n1", UID: "node"} }) })
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Unconfirmed || len(c.made) != 0 {
			t.Errorf("got %+v with %d calls", o, len(c.made))
		}
	})
}

// A hold that begins and ends during a request is known to the one that withdraws the eviction, and not to the judge.
func TestAnEvictionThatIsWithdrawnDuringARequestSendsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.writing = time.Second
		c.Withdrawn = func(types.UID) bool { return time.Since(c.born) > c.writing/2 }
		if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Unconfirmed || len(c.made) != 0 {
			t.Errorf("got %+v with %d calls", o, len(c.made))
		}
	})
}

// plain hides that an evictor asks before each request.
type plain struct{ Evictor }

func TestAnEvictorThatDoesNotAskIsConfirmedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.Evictor = plain{c}
		o := c.evict(t.Context(), "uid")
		time.Sleep(time.Second)
		c.live.Spec.Taints = nil
		o2 := c.evict(t.Context(), "uid")
		if o.Kind != eviction.Accepted || o2.Kind != eviction.Unconfirmed || len(c.made) != 1 {
			t.Errorf("got %+v and %+v with %d calls", o, o2, len(c.made))
		}
	})
}

func TestAGetThatTakesLongerThanItCountsConfirmsNothing(t *testing.T) {
	for takes, want := range map[time.Duration]eviction.Kind{
		5 * time.Second: eviction.Accepted, 5*time.Second + 1: eviction.Unconfirmed, 30 * time.Second: eviction.Unconfirmed,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newConfirming()
			c.takes = takes
			if o := c.evict(t.Context(), "uid"); o.Kind != want {
				t.Errorf("a GET of %v: got %+v", takes, o)
			}
			c.takes = 0
			if o := c.evict(t.Context(), "uid"); o.Kind != eviction.Accepted {
				t.Errorf("the next try: got %+v", o)
			}
		})
	}
}

// Whatever holds up one GET holds up no call that comes when its answer would no longer count.
func TestAGetThatHangsIsNotWaitedForOnceItNoLongerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.busy()
		c.takes = 30 * time.Second
		c.cache.pods["late"] = &taint.Pod{UID: "late", Node: "n1"}
		var calls sync.WaitGroup
		calls.Go(func() { c.evict(t.Context(), "uid") })
		time.Sleep(maxReadAge + time.Millisecond)
		c.mu.Lock()
		c.takes = 0
		c.mu.Unlock()
		if o := c.evict(t.Context(), "late"); o.Kind != eviction.Accepted || time.Since(c.born) != maxReadAge+time.Millisecond {
			t.Errorf("got %+v after %v", o, time.Since(c.born))
		}
		calls.Wait()
	})
}

func TestWhileFewCallsAreUnderWayEachNeedsAGetFromAfterItBegan(t *testing.T) {
	for others, gets := range map[int32]int{0: 2, maxUnshared - 1: 2, maxUnshared: 1} {
		synctest.Test(t, func(t *testing.T) {
			c := newConfirming()
			c.inFlight.Add(others)
			for range 2 {
				c.evict(t.Context(), "uid")
				time.Sleep(time.Millisecond)
			}
			if len(c.made) != 2 || len(c.gets) != gets {
				t.Errorf("with %d others: %d calls, GETs at %v, want %d", others, len(c.made), c.gets, gets)
			}
		})
	}
}

// A burst of 30 pods on each of 100 nodes, by 32 workers, at 300 pods a second: both requests of each call
// are confirmed by a GET for the node each 5 s, and few more.
func TestABurstTakesFewGets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.takes, c.writing = 5*time.Millisecond, 50*time.Millisecond
		workers := make(chan struct{}, 32)
		var calls sync.WaitGroup
		for i := range 3000 {
			uid := types.UID(fmt.Sprint(i))
			c.cache.change(func(c *cached) { c.pods[uid] = &taint.Pod{UID: uid, Node: fmt.Sprint("n", i%100)} })
			workers <- struct{}{}
			calls.Go(func() { c.evict(t.Context(), uid); <-workers })
		}
		calls.Wait()
		took := time.Since(c.born)
		t.Logf("%d GETs in %v", len(c.gets), took)
		if most := 100*int(took/maxReadAge+1) + 40; len(c.made) != 3000 || len(c.gets) > most {
			t.Errorf("%d calls with %d GETs in %v, want at most %d", len(c.made), len(c.gets), took, most)
		}
	})
}

func TestWhileCallsPauseTheNodeIsReadAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := aSecondAfterAGet(t)
		c.evict(t.Context(), "uid")
		if len(c.gets) != 1 {
			t.Fatalf("%d GETs, want one that serves both calls", len(c.gets))
		}
		paused := time.Now()
		c.PausedSince = func() time.Time { return paused }
		time.Sleep(time.Second)
		c.evict(t.Context(), "uid")
		if len(c.gets) != 2 {
			t.Errorf("%d GETs, want a new one in the pause", len(c.gets))
		}
	})
}

// dispatcherOf returns a dispatcher whose calls are confirmed, as in a manager. It is offered n pods that are due, and
// again each pod whose call has ended.
func dispatcherOf(t *testing.T, c *confirming, n int) *dispatch.Dispatcher {
	candidates := map[types.UID]dispatch.Candidate{}
	var d *dispatch.Dispatcher
	d = dispatch.New(dispatch.Options{
		CoreOptions: dispatch.CoreOptions{Workers: 32, Leading: func() bool { return true }},
		Evictor:     c.Confirmed, Probe: c.Probe, Started: func(eviction.Request) {},
		Ended: func(e eviction.Request, _ eviction.Outcome, _ time.Time) {
			d.Settle(e.Pod.UID)
			d.Offer(candidates[e.Pod.UID])
		},
	})
	c.PausedSince, c.NodeRead = d.PausedSince, d.NodeRead
	pod, node := c.cache.Pod("uid")
	for i := range n {
		of := *pod
		of.UID, of.Namespace = types.UID(fmt.Sprint(i)), fmt.Sprint(i)
		c.cache.pods[of.UID] = &of
		request := eviction.Request{Pod: &of, Verdict: taint.Decide(&of, node, taint.Rules{})}
		candidates[of.UID] = dispatch.Candidate{Pod: &of, Requests: []eviction.Request{request}}
		d.Offer(candidates[of.UID])
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Lead(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return d
}

// stuck is an evictor whose calls last until their contexts end.
type stuck struct{}

func (stuck) Evict(ctx context.Context, _ eviction.Request) eviction.Outcome {
	<-ctx.Done()
	return eviction.Outcome{Kind: eviction.Interrupted}
}

// The deletion after it may be one that admission holds for half a minute.
func TestAnAnsweredGETOfANodeEndsThePauseWhateverTheDeletionTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.Evictor = stuck{}
		c.err = connectionRefused()
		d := dispatcherOf(t, c, 32)
		time.Sleep(time.Second)
		synctest.Wait()
		if d.PausedSince().IsZero() || d.InFlight() != 0 || len(c.gets) < 4 {
			t.Fatalf("%d GETs, %d in flight, want calls to pause", len(c.gets), d.InFlight())
		}
		c.mu.Lock()
		c.err = nil
		c.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !d.PausedSince().IsZero() || d.InFlight() != 32 {
			t.Errorf("paused since %v, %d in flight, want 32 of them", d.PausedSince(), d.InFlight())
		}
	})
}

func TestOneProbeIsOneGET(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.err = connectionRefused()
		d := dispatcherOf(t, c, 40)
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if d.PausedSince().IsZero() {
			t.Error("calls do not pause")
		}
		last := slices.IndexFunc(c.gets, func(at time.Duration) bool { return at > 0 }) - 1 // of the calls that began the pause
		for i, at := range c.gets[last+1:] {
			pause := min(100*time.Millisecond<<min(i, 20), 30*time.Second)
			if after := at - c.gets[last+i]; after < pause/2 || after > pause {
				t.Errorf("GET %d comes %v after the GET before, want half to all of %v", i, after, pause)
			}
		}
		if n := len(c.gets) - last; n < 14 {
			t.Errorf("%d GETs in the pause", n)
		}
	})
}

func connectionRefused() error {
	return &net.OpError{Op: "dial", Err: errors.New("connection refused")}
}
