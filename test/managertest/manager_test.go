package managertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// recorder is an evictor that records the pods it evicts, and takes some time for each.
type recorder struct {
	lasts time.Duration

	mu      sync.Mutex
	evicted []string
	cut     int
}

func (r *recorder) Evict(ctx context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	r.mu.Lock()
	r.evicted = append(r.evicted, e.Pod.Name)
	r.mu.Unlock()
	select {
	case <-time.After(r.lasts):
		return taintmanager.Outcome{Kind: eviction.Accepted}
	case <-ctx.Done():
		r.mu.Lock()
		r.cut++
		r.mu.Unlock()
		return taintmanager.Outcome{Kind: eviction.Interrupted}
	}
}

func (r *recorder) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.evicted)
	slices.Sort(list)
	return list
}

func taintedNode() *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "node"},
		Spec:       v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}},
	}
}

func podOn(node, name string, tolerations ...v1.Toleration) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "1"},
		Spec:       v1.PodSpec{NodeName: node, Tolerations: tolerations},
	}
}

// running is a manager that runs until the end of the bubble, with everything it has started.
type running struct {
	*taintmanager.Manager
	runCtx, leadCtx context.Context
	run, lead       context.CancelFunc // end Run and Lead
	result, led     chan error         // of Run and of Lead
}

func start(t *testing.T, client kubernetes.Interface, o taintmanager.Options) *running {
	t.Helper()
	return startWith(t, client, nil, o)
}

// startWith starts a manager with a caller's informer, which may be nil.
func startWith(t *testing.T, client kubernetes.Interface, pods coreinformers.PodInformer, o taintmanager.Options) *running {
	t.Helper()
	r := newRunning(t, client, pods, o)
	r.beginLead()
	synctest.Wait() // a leader that begins while its shards judge may report a held pod twice
	r.beginRun()
	return r
}

// standby starts a manager that does not lead before beginLead.
func standby(t *testing.T, client kubernetes.Interface, o taintmanager.Options) *running {
	t.Helper()
	r := newRunning(t, client, nil, o)
	r.beginRun()
	return r
}

func newRunning(t *testing.T, client kubernetes.Interface, pods coreinformers.PodInformer, o taintmanager.Options) *running {
	t.Helper()
	m, err := taintmanager.New(client, pods, o)
	must(t, err)
	r := &running{Manager: m, result: make(chan error, 1), led: make(chan error, 1)}
	r.runCtx, r.run = context.WithCancel(context.Background())
	r.leadCtx, r.lead = context.WithCancel(context.Background())
	t.Cleanup(func() {
		r.run()
		r.lead()
		synctest.Wait()
	})
	return r
}

func (r *running) beginRun()  { go func() { r.result <- r.Run(r.runCtx) }() }
func (r *running) beginLead() { go func() { r.led <- r.Lead(r.leadCtx) }() }

// The bubble's clock is the process's clock, which is an hour ahead of the API server's.
func TestAProcessWhoseClockIsAheadCountsNoTimeAddedAsOlder(t *testing.T) {
	inBothModes(t, func(t *testing.T, pods func(*testing.T, kubernetes.Interface) coreinformers.PodInformer) {
		const ahead = time.Hour
		stamp := metav1.NewTime(time.Now().Add(-ahead - 10*time.Second))
		node, pod := taintedNode(), podOn("node", "pod", bears(60))
		node.Spec.Taints[0].TimeAdded = &stamp
		node.CreationTimestamp = metav1.NewTime(stamp.Add(-time.Hour))
		pod.CreationTimestamp = node.CreationTimestamp
		client, evictor := fake.NewClientset(node, pod), newClock()
		o := taintmanager.Options{Evictor: evictor, Ahead: func(time.Time) (least, most time.Duration) { return ahead, ahead }}
		startWith(t, client, pods(t, client), o)
		time.Sleep(time.Minute)
		// 60 s after timeAdded, and up to a second later: API times are cut to seconds.
		evictor.goes(t, "pod", 51*time.Second)
	})
}

func TestAStandbyPlansAndDoesNotCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := standby(t, fake.NewClientset(taintedNode(), podOn("node", "goes")), taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Minute)
		if got := evictor.names(); len(got) != 0 || r.Scheduled() != 1 {
			t.Errorf("evicted %v, scheduled %d", got, r.Scheduled())
		}
		r.beginLead()
		time.Sleep(time.Second)
		wantEvicted(t, "as a leader", evictor, "goes")
		r.stop(t)
	})
}

func TestWhenRunEndsCallsUnderWayEndToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{lasts: 3 * time.Second}
		r := start(t, fake.NewClientset(taintedNode(), podOn("node", "goes")), taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Second)
		began := time.Now()
		r.run()
		must(t, <-r.result)
		if took := time.Since(began); took < 2*time.Second || evictor.cut != 0 {
			t.Errorf("Run ended after %v; %d calls were cut", took, evictor.cut)
		}
	})
}

func TestWhenRunEndsCallsThatLastTooLongAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, evictor, ended := &logged{}, &recorder{lasts: time.Hour}, make(chan eviction.Kind, 2)
		r := start(t, fake.NewClientset(taintedNode(), podOn("node", "goes")), taintmanager.Options{
			Evictor: evictor, DrainTimeout: 5 * time.Second, Logger: log.logger(),
			Ended: func(_ taintmanager.Eviction, o taintmanager.Outcome, _ time.Time) { ended <- o.Kind },
		})
		time.Sleep(time.Second)
		began := time.Now()
		r.run()
		must(t, <-r.result) // that a call was cut is no error
		if log.count("were cancelled") != 1 || log.count(`"calls"=1 "pods"=["default/goes"]`) != 1 {
			t.Errorf("it does not say once what was cut: %s", log.text.String())
		}
		if kind := <-ended; kind != eviction.Interrupted || len(ended) > 0 {
			t.Errorf("Options.Ended got %v, and %d more", kind, len(ended))
		}
		if took := time.Since(began).Round(time.Second); took != 5*time.Second || evictor.cut != 1 {
			t.Errorf("Run ended after %v; %d calls were cut", took, evictor.cut)
		}
	})
}

func TestWhenLeadEndsCallsUnderWayAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{lasts: time.Hour}
		r := start(t, fake.NewClientset(taintedNode(), podOn("node", "goes")), taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Second)
		r.lead()
		must(t, <-r.led)
		synctest.Wait() // the shard processes the outcome
		if evictor.cut != 1 || r.Scheduled() != 1 {
			t.Errorf("%d calls were cut, %d evictions are scheduled", evictor.cut, r.Scheduled())
		}
	})
}

// An elector starts a new term without waiting for the calls of the last one.
func TestASecondLeadWaitsForTheEndOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(taintedNode())
		evictor := &recorder{}
		r := start(t, client, taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Second)
		second := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { second <- r.Lead(ctx) }()
		time.Sleep(time.Second)
		r.lead()
		synctest.Wait()
		_, err := client.CoreV1().Pods("default").Create(t.Context(), podOn("node", "goes"), metav1.CreateOptions{})
		must(t, err)
		time.Sleep(time.Minute)
		if got := evictor.names(); !slices.Equal(got, []string{"goes"}) {
			t.Errorf("under the second Lead %v was evicted", got)
		}
		if len(second) > 0 {
			t.Errorf("the second Lead has ended: %v", <-second)
		}
	})
}

func TestALeadWhoseTurnNeverComesEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, fake.NewClientset(taintedNode()), taintmanager.Options{})
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		must(t, r.Lead(ctx))
	})
}

func TestDryRunWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, partitions := aClient(), newNotebook()
		r := start(t, client, taintmanager.Options{DryRun: true, Journal: partitions})
		time.Sleep(time.Minute)
		r.stop(t)
		if n := partitions.written(); n != 0 {
			t.Errorf("%d writes of the journal", n)
		}
		for _, action := range client.Actions() {
			if verb := action.GetVerb(); verb != "list" && verb != "watch" {
				t.Errorf("a dry run did %s %s", verb, action.GetResource().Resource)
			}
		}
	})
}

func TestThroughAFakeClientAPodIsConditionedAndDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(taintedNode())
		start(t, client, taintmanager.Options{})
		time.Sleep(time.Second)
		must(t, client.Tracker().Add(podOn("node", "goes"))) // the fake shows no deletion between a list and its watch
		time.Sleep(time.Minute)
		var did []string
		for _, action := range client.Actions() {
			if verb := action.GetVerb(); verb != "list" && verb != "watch" {
				did = append(did, verb+" "+action.GetResource().Resource+" "+action.GetSubresource())
			}
		}
		slices.Sort(did)
		// The events are those on the pod and on its node, which is drained.
		if want := []string{"create events ", "create events ", "delete pods ", "get nodes ", "patch pods status"}; !slices.Equal(did, want) {
			t.Errorf("did %q, want %q", did, want)
		}
	})
}

// A transform that strips tolerations would cause a mass eviction, and empty the journal.
func TestATransformThatHidesTolerationsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(taintedNode(), podOn("node", "bears", v1.Toleration{Operator: v1.TolerationOpExists}))
		strip := func(obj any) (any, error) {
			if pod, ok := obj.(*v1.Pod); ok {
				pod.Spec.Tolerations = nil
			}
			return obj, nil
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(strip))
		evictor, partitions := &recorder{}, newNotebook()
		m, err := taintmanager.New(client, factory.Core().V1().Pods(), taintmanager.Options{Evictor: evictor, Journal: partitions})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		factory.Start(ctx.Done())
		go func() { _ = m.Lead(ctx) }()
		if err := m.Run(ctx); err == nil || !strings.Contains(err.Error(), "tolerations") {
			t.Errorf("Run: %v", err)
		}
		cancel()
		factory.Shutdown()
		if got := evictor.names(); len(got) != 0 || partitions.written() != 0 {
			t.Errorf("evicted %v, %d writes to the journal", got, partitions.written())
		}
	})
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	client := fake.NewClientset()
	registry := prometheus.NewRegistry()
	_, err := taintmanager.New(client, nil, taintmanager.Options{Registerer: registry})
	must(t, err)
	for want, try := range map[string]func() (*taintmanager.Manager, error){
		"Options.Shards: Invalid value: -1":                with(client, taintmanager.Options{Shards: -1}),
		"Options.Workers: Invalid value: -1":               with(client, taintmanager.Options{Workers: -1}),
		"Options.MaxEvictionsPerSecond: Invalid value: -1": with(client, taintmanager.Options{MaxEvictionsPerSecond: -1}),
		`Options.Method: Unsupported value: "drain"`:       with(client, taintmanager.Options{Method: "drain"}),
		"Options.CallTimeout is -1s":                       with(client, taintmanager.Options{CallTimeout: -time.Second}),
		"Options.DryRun and Options.Evictor":               with(client, taintmanager.Options{DryRun: true, Evictor: &recorder{}}),
		"two managers need a registry each":                with(client, taintmanager.Options{Registerer: registry}),
		`policies[0].method: Unsupported value: "Drain"`:   with(client, taintmanager.Options{Policies: []policy.Policy{{Name: "a", Method: "Drain"}}}),
	} {
		if _, err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a refusal with %q", err, want)
		}
	}
}

func with(client kubernetes.Interface, o taintmanager.Options) func() (*taintmanager.Manager, error) {
	return func() (*taintmanager.Manager, error) { return taintmanager.New(client, nil, o) }
}

func TestAnEvictionThatWaitsForTheRateOfAllCallsShowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(taintedNode(), podOn("node", "a"), podOn("node", "b"), podOn("node", "c"))
		r := start(t, client, taintmanager.Options{Evictor: &recorder{}, MaxEvictionsPerSecond: 0.1})
		time.Sleep(11 * time.Second) // two have gone
		views, err := r.Views(t.Context())
		must(t, err)
		var got []string
		for _, v := range views {
			got = append(got, string(v.State)+" "+v.Waits.Rate)
		}
		slices.Sort(got)
		if want := []string{"due max-evictions-per-second", "terminating ", "terminating "}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestTheEarliestEvictionsAreThoseBeforeAllOthers(t *testing.T) {
	for _, shards := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(shards, " shards"), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { earliest(t, shards) }) })
	}
}

func earliest(t *testing.T, shards int) {
	t.Helper()
	var objects []runtime.Object
	for i := range 60 {
		node := taintedNode()
		node.Name = fmt.Sprint("node-", i)
		objects = append(objects, node, podOn(node.Name, fmt.Sprint("pod-", i), bears(int64(100+i*37%60))))
	}
	r := start(t, fake.NewClientset(objects...), taintmanager.Options{Evictor: &recorder{}, Shards: shards})
	time.Sleep(time.Second)
	all, err := r.Views(t.Context())
	if err != nil || len(all) != 60 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	for _, most := range []int{0, 1, 30, 59, 60, 500} {
		views, left, err := r.Earliest(t.Context(), most)
		if err != nil || len(views)+left != 60 || most == 500 && left > 0 || len(views) > most+8 {
			t.Fatalf("at most %d: got %d, left %d, %v", most, len(views), left, err)
		}
		for _, v := range views {
			if later := v.Verdict.At.Sub(all[0].Verdict.Start) - 100*time.Second; int(later/time.Second) >= len(views) {
				t.Errorf("at most %d: among %d is one that is due after %v", most, len(views), later)
			}
		}
	}
}
