package evict

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
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
		"the pod is edited meanwhile": func(c *confirming) {
			c.duringGet(func(c *cached) { c.pods["uid"] = &taint.Pod{UID: "uid", Node: "n1", Seen: time.Now()} })
		},
		"the cache learns meanwhile that the pod stays": func(c *confirming) { c.duringGet(untainted) },
		"the cache learns during a request that it stays": func(c *confirming) {
			c.duringWrite(func() { c.cache.change(untainted) })
		},
		"the taint is lifted during a slow request": func(c *confirming) {
			c.writing = 30 * time.Second
			time.AfterFunc(time.Second, func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.live.Spec.Taints, c.live.ResourceVersion = nil, "11"
			})
		},
		// The judge does not know of a hold that begins and ends during a request.
		"it is withdrawn during a request": func(c *confirming) {
			var withdrawn atomic.Bool
			c.Withdrawn = func(types.UID) bool { return withdrawn.Load() }
			c.duringWrite(func() { withdrawn.Store(true) })
		},
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

// duringWrite makes requests take a second, and does something in the midst of the first.
func (c *confirming) duringWrite(do func()) {
	c.writing = time.Second
	time.AfterFunc(c.writing/2, do)
}

func untainted(c *cached) { c.node = &taint.Node{Name: "n1", UID: "node"} }

func TestAGetThatFailsConfirmsNothingAndIsReportedAsEachGetIs(t *testing.T) {
	nodes := schema.GroupResource{Resource: "nodes"}
	for name, c := range map[string]struct {
		err  error
		want eviction.Kind
	}{
		"the node is gone":                 {apierrors.NewNotFound(nodes, "n1"), eviction.Unconfirmed},
		"the API server fails":             {apierrors.NewInternalError(fmt.Errorf("etcd")), eviction.Failed},
		"the API server is loaded":         {apierrors.NewTooManyRequests("later", 3), eviction.Throttled},
		"the API server cannot be reached": {&net.OpError{Op: "dial", Err: fmt.Errorf("refused")}, eviction.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, read := newConfirming(), []eviction.Kind{}
				w.NodeRead = func(_ string, _ time.Time, o eviction.Outcome) { read = append(read, o.Kind) }
				w.err = c.err
				if o := w.evict(t.Context(), "uid"); o.Kind != c.want || len(w.made) != 0 {
					t.Errorf("got %+v with %d calls", o, len(w.made))
				}
				w.err = nil
				if o := w.evict(t.Context(), "uid"); o.Kind != eviction.Accepted {
					t.Errorf("the failure is still believed: %+v", o)
				}
				if want := []eviction.Kind{c.want, proceed}; !slices.Equal(read, want) {
					t.Errorf("reported are %v, want %v", read, want)
				}
			})
		})
	}
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

// first makes a call while others are in flight until the test ends, and lets some time pass.
func (c *confirming) first(others int32, wait time.Duration) {
	c.inFlight.Add(others)
	c.evict(context.Background(), "uid")
	time.Sleep(wait)
}

// other begins a call for another pod of the node, and lets some time pass.
func (c *confirming) other(wait time.Duration) {
	c.cache.change(func(c *cached) { c.pods["other"] = &taint.Pod{UID: "other", Node: "n1"} })
	go c.evict(context.Background(), "other")
	time.Sleep(wait)
}

// The earlier calls, and what happens after them, decide whether the last call needs a GET of its own.
func TestACallRestsOnAGetThatIsRecentEnough(t *testing.T) {
	const ms, many = time.Millisecond, maxUnshared
	yes, no := eviction.Accepted, eviction.Unconfirmed
	for name, row := range map[string]struct {
		before func(c *confirming)
		gets   string // when they begin
		want   eviction.Kind
	}{
		"no other call":                   {func(*confirming) {}, "[0s]", yes},
		"an unusable version":             {func(c *confirming) { c.version = "" }, "[0s]", yes},
		"a GET that takes five seconds":   {func(c *confirming) { c.takes = 5 * time.Second }, "[0s]", yes},
		"a GET that takes longer":         {func(c *confirming) { c.takes = 5001 * ms }, "[0s]", no},
		"a first request of five seconds": {func(c *confirming) { c.writing = 5 * time.Second }, "[0s]", yes},
		"a first request of more":         {func(c *confirming) { c.writing = 5001 * ms }, "[0s 5.001s]", yes},
		"a webhook that holds a PATCH":    {func(c *confirming) { c.writing = 30 * time.Second }, "[0s 30s]", yes},
		"four calls in flight":            {func(c *confirming) { c.first(many-1, time.Second) }, "[0s 1s]", yes},
		"five calls in flight":            {func(c *confirming) { c.first(many, time.Second) }, "[0s]", yes},
		"a GET of five seconds ago":       {func(c *confirming) { c.first(many, 5*time.Second) }, "[0s]", yes},
		"a GET of more than five seconds": {func(c *confirming) { c.first(many, 5001*ms) }, "[0s 5.001s]", yes},
		"a node that was read ahead": {func(c *confirming) {
			c.inFlight.Add(many)
			c.Read(context.Background(), "n1")
			time.Sleep(5 * time.Second)
		}, "[0s]", yes},
		"a node that was read ahead, while few calls are in flight": {func(c *confirming) {
			c.Read(context.Background(), "n1")
			time.Sleep(time.Second)
		}, "[0s 1s]", yes},
		"a GET of another node forgets only what no longer counts": {func(c *confirming) {
			c.first(many, 5*time.Second)
			_, _ = c.readNode(context.Background(), "n2", time.Now)
		}, "[0s 5s]", yes},
		// not-ready may become unreachable, which a pod does not bear: then it is due for a long time already.
		"what an older GET lacks is looked for again at once": {func(c *confirming) {
			c.first(many, time.Second)
			other := v1.Taint{Key: "other", Effect: v1.TaintEffectNoExecute}
			c.cache.node.Taints = []taint.History{{{Taint: other, Since: c.born}}}
			c.live.Spec.Taints = []v1.Taint{other}
		}, "[0s 1s]", yes},
		// The node may have lost its taint, and the pod have been bound for that reason, after the first GET.
		"a pod that is due after a GET was sent": {func(c *confirming) {
			c.inFlight.Add(many)
			c.takes = 100 * ms
			c.cache.pods["uid"].Bound = c.born.Add(30 * ms)
			c.other(30 * ms)
		}, "[0s 100ms]", yes},
		// Its node may have lost the taint since, in a part that the watch has not shown yet.
		"a pod that was edited after the GET": {func(c *confirming) {
			c.first(many, time.Second)
			c.cache.pods["uid"] = &taint.Pod{UID: "uid", Node: "n1", Bound: c.born, Seen: time.Now()}
			c.live.Spec.Taints, c.live.ResourceVersion = nil, "11"
		}, "[0s 1s]", no},
		"a GET that hangs is not waited for once it no longer counts": {func(c *confirming) {
			c.inFlight.Add(many)
			c.takes = 30 * time.Second
			c.other(5001 * ms)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.takes = 0
		}, "[0s 5.001s]", yes},
		"calls pause since the GET": {func(c *confirming) {
			c.first(many, time.Second)
			paused := time.Now()
			c.PausedSince = func() time.Time { return paused }
			time.Sleep(time.Second)
		}, "[0s 2s]", yes},
		"an evictor that does not ask is confirmed once for each call": {func(c *confirming) {
			c.Evictor = plain{c}
			c.first(0, time.Second)
			c.live.Spec.Taints = nil
		}, "[0s 1s]", no},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newConfirming()
			row.before(c)
			if o := c.evict(t.Context(), "uid"); o.Kind != row.want || fmt.Sprint(c.gets) != row.gets {
				t.Errorf("%s: got %+v after GETs at %v, want %s and %s", name, o, c.gets, row.want.String(), row.gets)
			}
			time.Sleep(time.Minute) // until the other call has ended
		})
	}
}

// plain hides that an evictor asks before each request.
type plain struct{ Evictor }

func TestCallsThatAreCutShortDoNotHoldUpTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming()
		c.takes = 100 * time.Millisecond
		var calls sync.WaitGroup
		begin := func(ctx context.Context, uid types.UID, want eviction.Kind) {
			c.cache.change(func(c *cached) { c.pods[uid] = &taint.Pod{UID: uid, Node: "n1"} })
			calls.Go(func() {
				if o := c.evict(ctx, uid); o.Kind != want {
					t.Errorf("%s: got %+v, want %s", uid, o, want.String())
				}
			})
			synctest.Wait()
		}
		reads, cutReader := context.WithCancel(t.Context())
		waits, cutWaiter := context.WithCancel(t.Context())
		begin(reads, "reads the node", eviction.Interrupted)
		begin(waits, "waits for the GET", eviction.Interrupted)
		begin(t.Context(), "other", eviction.Accepted)
		cutWaiter()
		synctest.Wait()
		cutReader()
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
		for i := range 500 {
			read(fmt.Sprint("n", i))
			time.Sleep(50 * time.Millisecond)
			c.Read(t.Context(), fmt.Sprint("ahead", i))
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
