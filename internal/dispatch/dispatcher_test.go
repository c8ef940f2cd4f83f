package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// evictor answers by a function.
type evictor func(ctx context.Context) eviction.Outcome

func (e evictor) Evict(ctx context.Context, _ eviction.Request) eviction.Outcome { return e(ctx) }

// notes notes when each call begins, since it was made.
type notes struct {
	Evictor
	born time.Time

	mu    sync.Mutex
	began []time.Duration
}

func noting(e Evictor) *notes { return &notes{Evictor: e, born: time.Now()} }

func (n *notes) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	n.mu.Lock()
	n.began = append(n.began, time.Since(n.born))
	n.mu.Unlock()
	return n.Evictor.Evict(ctx, e)
}

// begins returns when calls began until now.
func (n *notes) begins() []time.Duration {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.began)
}

// lasting answers after a while, or when it is cut.
func lasting(d time.Duration) evictor {
	return func(ctx context.Context) eviction.Outcome {
		select {
		case <-time.After(d):
			return eviction.Outcome{Kind: eviction.Accepted}
		case <-ctx.Done():
			return eviction.Outcome{Kind: eviction.Interrupted}
		}
	}
}

// always answers at once.
func always(o eviction.Outcome) evictor { return func(context.Context) eviction.Outcome { return o } }

// user offers pods to a dispatcher, and notes what it reports of them.
type user struct {
	*Dispatcher
	t     *testing.T
	mu    sync.Mutex
	again func(eviction.Outcome) bool // whether a pod is settled and offered again after a call; nil: it is not

	offered  int       // how many pods
	taint    string    // of the next pods; empty: no rate counts them
	deadline time.Time // of the next pods

	candidates map[types.UID]Candidate
	reported   map[types.UID][]eviction.Outcome
	log        strings.Builder
}

// complete sets what a test leaves out.
func (o Options) complete() Options {
	o.Workers = cmp.Or(o.Workers, 32)
	if o.Leading == nil {
		o.Leading = func() bool { return true }
	}
	if o.Started == nil {
		o.Started = func(eviction.Request) {}
	}
	if o.Ended == nil {
		o.Ended = func(eviction.Request, eviction.Outcome, time.Time) {}
	}
	return o
}

func newUser(t *testing.T, o Options) *user {
	u := &user{t: t, candidates: map[types.UID]Candidate{}, reported: map[types.UID][]eviction.Outcome{}}
	o = o.complete()
	ended := o.Ended
	o.Ended = func(e eviction.Request, outcome eviction.Outcome, at time.Time) {
		ended(e, outcome, at)
		if c, again := u.report(e.Pod.UID, outcome); again {
			u.Settle(e.Pod.UID)
			u.Offer(c)
		}
	}
	if o.Read == nil { // the server that makes the calls also answers the GET
		o.Read = func(ctx context.Context, node string) {
			sent := time.Now()
			u.NodeRead(node, sent, o.Evictor.Evict(ctx, eviction.Request{Pod: &taint.Pod{UID: "probe"}}))
		}
	}
	u.Dispatcher = New(o)
	return u
}

// offer offers further pods of as many namespaces; the UID of each is its number.
func (u *user) offer(n int) {
	for range n {
		i := u.offered
		u.offered++
		uid := types.UID(fmt.Sprint(i))
		node := fmt.Sprint("node", i%2)
		request := eviction.Request{Pod: &taint.Pod{UID: uid, Namespace: fmt.Sprint("n", i), Name: "p", Node: node}}
		if request.Verdict.At = u.deadline; u.taint != "" {
			request.Verdict.Taint = &v1.Taint{Key: u.taint}
		}
		c := Candidate{Pod: request.Pod, Deadline: u.deadline, Requests: []eviction.Request{request}, NodeLabels: map[string]string{"node": node}}
		u.mu.Lock()
		u.candidates[uid] = c
		u.mu.Unlock()
		if !u.Offer(c) {
			u.t.Errorf("pod %d is not taken", i)
		}
	}
}

// report notes an outcome, and reports whether the pod is to be offered again.
func (u *user) report(uid types.UID, o eviction.Outcome) (c Candidate, again bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reported[uid] = append(u.reported[uid], o)
	return u.candidates[uid], u.again != nil && u.again(o)
}

// demand offers as many pods, and each again once its call has ended.
func (u *user) demand(n int) *user {
	u.again = func(eviction.Outcome) bool { return true }
	u.offer(n)
	return u
}

// first returns the first outcome of the first pod.
func (u *user) first() eviction.Outcome {
	synctest.Wait()
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.reported["0"][0]
}

// enough ends the demand.
func (u *user) enough() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.again = nil
}

// lead leads until the returned function is called.
func (u *user) lead() (end func()) {
	log := funcr.New(func(_, args string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.log.WriteString(args + "\n")
	}, funcr.Options{})
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), log))
	done := make(chan error, 1)
	go func() { done <- u.Lead(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		if err := <-done; err != nil {
			u.t.Error(err)
		}
	}
}

// logged returns what was logged until now.
func (u *user) logged() string {
	synctest.Wait()
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.log.String()
}

// expect compares how many pods wait, how many calls are under way, and how many outcomes were reported.
func (u *user) expect(when string, waiting, inFlight, reported int) {
	u.t.Helper()
	synctest.Wait()
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for uid, outcomes := range u.reported {
		if n += len(outcomes); len(outcomes) != 1 {
			u.t.Errorf("%s: pod %s has the outcomes %v", when, uid, outcomes)
		}
	}
	if got, want := [3]int{u.Waiting(), u.InFlight(), n}, [3]int{waiting, inFlight, reported}; got != want {
		u.t.Errorf("%s: waiting, in flight, reported are %v, want %v", when, got, want)
	}
}

func TestCallsStartOnlyInATermAndEndBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 4}, Evictor: lasting(500 * time.Millisecond)})
		u.offer(10)
		u.expect("before the term", 10, 0, 0)
		end := u.lead()
		u.expect("in the term", 6, 4, 0)
		if err := u.Lead(t.Context()); err == nil {
			t.Error("two terms at once")
		}
		time.Sleep(600 * time.Millisecond)
		u.expect("later", 2, 4, 4)
		end()
		u.expect("after the term", 2, 0, 8)
		end = u.lead()
		time.Sleep(time.Second)
		u.expect("in the next term", 0, 0, 10)
		end()
	})
}

func TestAnOfferForACallThatIsNotSettledIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{Evictor: lasting(time.Second)})
		defer u.lead()()
		u.offer(1)
		for _, when := range []string{"under way", "not settled"} {
			if u.Offer(Candidate{Pod: &taint.Pod{UID: "0"}, Requests: []eviction.Request{{}}}) || u.Withdraw("0") {
				t.Errorf("the pod is taken while its call is %s", when)
			}
			if !u.Withdrawn("0") {
				t.Errorf("the call is not withdrawn while it is %s", when)
			}
			if when == "under way" && u.Settle("0") != nil {
				t.Error("a call under way is settled")
			}
			if s := u.Status("0"); s.Request == nil || s.Request.Pod.UID != "0" {
				t.Errorf("the status is %+v while the call is %s", s, when)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		if e := u.Settle("0"); e == nil || e.Request.Pod.UID != "0" || e.Outcome.Kind != eviction.Accepted || u.Settle("0") != nil {
			t.Errorf("settled %+v", e)
		}
		if !u.Offer(Candidate{Pod: &taint.Pod{UID: "0"}, Requests: []eviction.Request{{Pod: &taint.Pod{UID: "0"}}}}) || u.InFlight() != 1 {
			t.Error("a settled pod has no second call")
		}
		if u.Withdrawn("0") || u.Status("unknown") != (Status{}) {
			t.Error("the second call is withdrawn from its beginning, or a pod that was not offered has a status")
		}
	})
}

func TestDrainCutsCallsThatLastTooLong(t *testing.T) {
	for _, c := range []struct {
		name string
		most time.Duration
		took time.Duration
		cut  int
	}{{"in time", time.Minute, 10 * time.Second, 0}, {"too late", time.Second, time.Second, 3}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 3}, Evictor: lasting(10 * time.Second)})
				defer u.lead()()
				u.offer(5)
				u.expect("before", 2, 3, 0)
				ctx, cancel := context.WithTimeout(t.Context(), c.most)
				defer cancel()
				began := time.Now()
				cut := u.Drain(ctx)
				if took := time.Since(began); took != c.took || len(cut) != c.cut {
					t.Errorf("it took %v and has cut %d calls, want %v and %d", took, len(cut), c.took, c.cut)
				}
				u.expect("drained", 2, 0, 3)
			})
		})
	}
}

func TestADrainedDispatcherLeadsNoMore(t *testing.T) {
	u := newUser(t, Options{Evictor: always(succeeds)})
	u.Drain(t.Context())
	if err := u.Lead(t.Context()); err == nil {
		t.Error("a drained dispatcher leads")
	}
}

func TestAPauseWithholdsCallsAndKeepsCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Paused: true}, Evictor: always(succeeds)})
		defer u.lead()()
		u.offer(3)
		time.Sleep(time.Hour)
		u.expect("paused", 3, 0, 0)
		if s := u.Status("0"); s.Waits.Cause != eviction.WaitsForPause {
			t.Errorf("the status is %+v", s)
		}
		u.SetPaused(false)
		u.expect("resumed", 0, 0, 3)
	})
}

func TestInAnOutageOneProbeAtATimeAsksWhetherTheServerIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		down.Store(true)
		var calls atomic.Int32
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 4}, Evictor: evictor(func(ctx context.Context) eviction.Outcome {
			calls.Add(1)
			if down.Load() {
				return eviction.Outcome{Kind: eviction.Unavailable, NothingDeleted: true}
			}
			return lasting(time.Second / 2)(ctx)
		})})
		defer u.lead()()
		u.offer(40)
		synctest.Wait()
		first := calls.Load()
		time.Sleep(10 * time.Second) // pauses double: 0.1, 0.2 ... 6.4 s
		if asked := calls.Load() - first; first > 4 || asked < 6 || asked > 8 || u.PausedSince().IsZero() {
			t.Errorf("%d calls before the pause, and %d in ten seconds of it", first, asked)
		}
		down.Store(false)
		u.ServerAnswered()
		time.Sleep(100 * time.Millisecond)
		if u.InFlight() != 0 || u.PausedSince().IsZero() {
			t.Errorf("%d calls start before the probe has an answer", u.InFlight())
		}
		u.NodeRead("node0", time.Now(), succeeds)
		if u.InFlight() != 4 || !u.PausedSince().IsZero() {
			t.Errorf("%d calls after the answer", u.InFlight())
		}
	})
}

// Events wait while this is so.
func TestItSaysWhetherACandidateWaitsForAPlaceAlone(t *testing.T) {
	rates := []policy.Rate{{Name: "few", Taints: []policy.TaintKey{{Key: "down"}}, EvictionsPerSecond: .001, Burst: 1}}
	for name, c := range map[string]struct {
		pods  int
		taint string
		then  func(u *user)
		want  bool
	}{
		"each pod has a place":                {2, "", func(*user) {}, false},
		"two calls are younger than a second": {3, "", func(*user) {}, true},
		"all places are taken":                {7, "", func(*user) { time.Sleep(3 * time.Second) }, true},
		"all calls have ended":                {3, "", func(*user) { time.Sleep(time.Minute) }, false},
		"a rate has no token":                 {3, "down", func(*user) {}, false},
		"the pod that waits stays":            {3, "", func(u *user) { u.Withdraw("2"); time.Sleep(time.Second) }, false},
		"… less than a second ago":            {3, "", func(u *user) { u.Withdraw("2"); time.Sleep(time.Second - 1) }, true},
		"all calls are paused":                {3, "", func(u *user) { u.SetPaused(true); time.Sleep(time.Second) }, false},
		"the API server can't be reached":     {3, "", func(u *user) { u.NodeRead("n", time.Now(), unreachable); time.Sleep(time.Second) }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 2, Rates: rates}, Evictor: lasting(10 * time.Second)})
			u.taint = c.taint
			defer u.lead()()
			u.offer(c.pods)
			c.then(u)
			synctest.Wait()
			if got := u.WantsPlaces(); got != c.want {
				t.Errorf("%s: got %v", name, got)
			}
		})
	}
}

func TestTheNumberOfWorkersChangesWhileCallsAreInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Workers: 4}, Evictor: lasting(900 * time.Millisecond)}).demand(20)
		defer u.lead()()
		for _, step := range []struct{ workers, atOnce, later int }{{6, 6, 6}, {2, 6, 2}, {4, 4, 4}, {32, 20, 20}} {
			u.SetRates(nil, step.workers)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if got := u.InFlight(); got != step.atOnce {
				t.Errorf("%d workers: %d calls are in flight at once, want %d", step.workers, got, step.atOnce)
			}
			time.Sleep(1800 * time.Millisecond)
			synctest.Wait()
			if got, places := u.InFlight(), u.gauge("eviction_places"); got != step.later || int(places) != 3*step.workers {
				t.Errorf("%d workers: %d calls are in flight later, want %d; the metric has %v", step.workers, got, step.later, places)
			}
		}
	})
}

func TestAnEvictorThatPanicsFailsItsCallOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{Evictor: evictor(func(context.Context) eviction.Outcome { panic("oh") })})
		defer u.lead()()
		u.offer(50)
		time.Sleep(time.Second)
		u.expect("after the panics", 0, 0, 50)
		want := eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CausePanic, Message: "the evictor panicked: oh"}
		if o := u.first(); o != want {
			t.Errorf("the outcome is %+v", o)
		}
	})
}

func TestAnOutcomeOfNoKindIsAFailure(t *testing.T) {
	for _, kind := range []eviction.Kind{0, eviction.Unconfirmed + 1} {
		if got := complete(eviction.Outcome{Kind: kind}); got.Kind != eviction.Failed || got.Message == "" || !got.MayHaveDeleted() {
			t.Errorf("kind %d: %+v", kind, got)
		}
	}
}

func TestWhatAnEvictorOfACallersOwnSaysIsCut(t *testing.T) {
	enormous := strings.Repeat("ä", 1<<19)
	for name, answer := range map[string]evictor{
		"an outcome": always(eviction.Outcome{Kind: eviction.Failed, Cause: "\xff" + enormous, Message: enormous + "\xff"}),
		"a panic":    func(context.Context) eviction.Outcome { panic(enormous) },
	} {
		synctest.Test(t, func(t *testing.T) {
			u := newUser(t, Options{Evictor: answer})
			defer u.lead()()
			u.offer(1)
			log := u.logged()
			for _, s := range []string{u.first().Message, u.first().Cause} {
				if len(s) == 0 || len(s) > truncate.MaxBytes || !utf8.ValidString(s) {
					t.Errorf("%s: %d bytes, valid: %v", name, len(s), utf8.ValidString(s))
				}
			}
			if len(log) > 16<<10 { // a stack
				t.Errorf("%s: %d bytes are logged", name, len(log))
			}
		})
	}
}

func TestNoCallIsMadeWhileLeadingDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, asked atomic.Int32
		var leading atomic.Bool
		u := newUser(t, Options{
			CoreOptions: CoreOptions{Leading: func() bool { asked.Add(1); return leading.Load() }},
			Evictor:     evictor(func(context.Context) eviction.Outcome { made.Add(1); return succeeds }),
		})
		defer u.lead()()
		u.offer(1)
		time.Sleep(10 * time.Second)
		u.expect("denied", 1, 0, 0)
		if made.Load() != 0 || asked.Load() > 60 {
			t.Errorf("%d calls, asked %d times", made.Load(), asked.Load())
		}
		leading.Store(true)
		time.Sleep(time.Second)
		u.expect("leading", 0, 0, 1)
	})
}

func TestALeadershipLostSinceTheChoiceInterruptsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		u := newUser(t, Options{
			CoreOptions: CoreOptions{Leading: func() bool { return asked.Add(1) == 1 }},
			Evictor:     evictor(func(context.Context) eviction.Outcome { t.Error("the call is made"); return succeeds }),
		})
		defer u.lead()()
		u.offer(1)
		u.expect("lost", 0, 0, 1)
		if o := u.first(); o.Kind != eviction.Interrupted || !o.NothingDeleted {
			t.Errorf("the outcome is %+v", o)
		}
	})
}

func TestTheOutcomeFollowsTheFreePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		var d *Dispatcher
		d = New(Options{
			CoreOptions: CoreOptions{Workers: 1, Leading: func() bool { return true }},
			Evictor:     always(succeeds),
			Started:     func(eviction.Request) { order = append(order, "started") },
			Ended: func(eviction.Request, eviction.Outcome, time.Time) {
				order = append(order, fmt.Sprint("ended, in flight ", d.InFlight(), ", settled ", d.Settle("a") != nil))
			},
		})
		u := &user{Dispatcher: d, t: t}
		defer u.lead()()
		request := eviction.Request{Pod: &taint.Pod{UID: "a"}}
		d.Offer(Candidate{Pod: request.Pod, Requests: []eviction.Request{request}})
		synctest.Wait()
		if want := []string{"started", "ended, in flight 0, settled true"}; !slices.Equal(order, want) {
			t.Errorf("%q, want %q", order, want)
		}
	})
}

func TestATermLastsAsLongAsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{Evictor: evictor(func(ctx context.Context) eviction.Outcome {
			<-ctx.Done()
			time.Sleep(time.Second) // of the bubble: the call takes its time to end
			return eviction.Outcome{Kind: eviction.Interrupted}
		})})
		end := u.lead()
		u.offer(1)
		u.expect("in the term", 0, 1, 0)
		end()
		if u.InFlight() != 0 || len(u.reported) != 1 {
			t.Errorf("%d calls outlast the term", u.InFlight())
		}
	})
}

// Steps that start nothing go on while the last call of a term ends.
func TestTermsEndInTheMidstOfSteps(t *testing.T) {
	u := newUser(t, Options{Evictor: always(succeeds)})
	stop := make(chan struct{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					u.Settle("unknown")
				}
			}
		})
	}
	for range 100 {
		u.offer(3)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(u.offered%7)*10*time.Microsecond, cancel)
		if err := u.Lead(ctx); err != nil {
			t.Fatal(err)
		}
		if n := u.InFlight(); n != 0 {
			t.Fatalf("%d calls outlast the term", n)
		}
	}
	close(stop)
	others.Wait()
}
