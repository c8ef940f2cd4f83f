package managertest

import (
	"context"
	"fmt"
	gort "runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // as in the binary; with it, each queue has a goroutine

	taintmanager "github.com/taint-manager/taint-manager"
)

// fedPods is an informer whose watch is fed by a test.
type fedPods struct {
	cache.SharedIndexInformer
	watch *watch.FakeWatcher
}

func feedPods() fedPods {
	source := oneWatch{watch.NewFake()}
	return fedPods{cache.NewSharedIndexInformer(source, &v1.Pod{}, 0, cache.Indexers{}), source.FakeWatcher}
}

func (f fedPods) Informer() cache.SharedIndexInformer { return f.SharedIndexInformer }
func (fedPods) Lister() corelisters.PodLister         { return nil }

// oneWatch is an empty list of pods, and one watch.
type oneWatch struct{ *watch.FakeWatcher }

func (oneWatch) List(metav1.ListOptions) (runtime.Object, error) {
	return &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}
func (o oneWatch) Watch(metav1.ListOptions) (watch.Interface, error) { return o.FakeWatcher, nil }
func (oneWatch) IsWatchListSemanticsUnSupported() bool               { return true }

// herd is many nodes with some pods each, which tolerate the node's taint for five minutes.
type herd struct {
	pods   fedPods
	nodes  *watch.FakeWatcher // of the client
	each   int                // pods on each node
	all    []*v1.Node
	byName sync.Map // the same, in their present state
}

func newHerd(nodes int) *herd {
	return &herd{
		pods:  feedPods(),
		nodes: watch.NewFake(),
		each:  5,
		all:   make([]*v1.Node, nodes),
	}
}

// node sets the state of a node.
func (h *herd) node(name string, taints ...v1.Taint) *v1.Node {
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec:       v1.NodeSpec{Taints: taints},
	}
	h.byName.Store(name, node)
	return node
}

// client returns a client that lists no node, and whose watch of nodes is fed by the herd.
func (h *herd) client() *fake.Clientset {
	client := fake.NewClientset()
	client.PrependWatchReactor("nodes", clienttesting.DefaultWatchReactor(h.nodes, nil))
	return client
}

// arrive sends all nodes and pods to the watches; the manager and the informer must run.
func (h *herd) arrive() {
	for i := range h.all {
		name := fmt.Sprint("node-", i)
		h.all[i] = h.node(name)
		h.nodes.Add(h.all[i])
		for j := range h.each {
			h.pods.watch.Add(podOn(name, fmt.Sprint(name, "-", j), bears(300)))
		}
	}
	synctest.Wait()
}

// taint sets a taint on every node, or removes it, and waits until all goroutines are idle.
func (h *herd) taint(on bool) {
	var taints []v1.Taint
	if on {
		taints = []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}
	}
	for i, node := range h.all {
		h.all[i] = h.node(node.Name, taints...)
		h.nodes.Modify(h.all[i])
	}
	synctest.Wait()
}

func TestTaintingAThousandNodesAHundredTimesLeavesNothingBehind(t *testing.T) {
	rounds, nodes := 100, 1000
	if testing.Short() {
		rounds, nodes = 20, 100
	}
	before := goleak.IgnoreCurrent()
	synctest.Test(t, func(t *testing.T) {
		h := newHerd(nodes)
		ctx, stop := context.WithCancel(t.Context())
		m := gather(ctx, t, h)
		h.arrive()

		var early uint64
		for round := range rounds {
			h.taint(true)
			if n := m.Scheduled(); n != nodes*h.each {
				t.Fatalf("round %d: %d evictions are scheduled, want %d", round, n, nodes*h.each)
			}
			h.taint(false)
			if n := m.Scheduled(); n != 0 {
				t.Fatalf("round %d: %d evictions are scheduled, want none", round, n)
			}
			if round == rounds/10 {
				early = heap()
			}
		}
		if late := heap(); late > early+early/10+1<<20 {
			t.Errorf("the heap has grown from %d to %d bytes in %d rounds", early, late, rounds)
		} else {
			t.Logf("heap after %d rounds %d bytes, after %d rounds %d bytes", rounds/10, early, rounds, late)
		}
		stop()
		synctest.Wait()
	})
	goleak.VerifyNone(t, before)
}

func TestAManagerThatIsNeverRunLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	_, err := taintmanager.New(fake.NewClientset(), nil, taintmanager.Options{})
	must(t, err)
}

func TestAManagerThatEndsBeforeItHasSyncedLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(taintedNode(), podOn("node", "goes"))
		client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, context.DeadlineExceeded
		})
		r := start(t, client, taintmanager.Options{})
		time.Sleep(time.Minute)
		r.stop(t)
	})
	goleak.VerifyNone(t, before)
}

func TestTwoManagersOfOneProcessAddToTheSameQueueMetrics(t *testing.T) {
	before := addsToQueues(t)
	synctest.Test(t, func(t *testing.T) {
		for range 2 {
			start(t, fake.NewClientset(taintedNode(), podOn("node", "goes")), taintmanager.Options{Evictor: &recorder{}, Shards: 1})
		}
		time.Sleep(time.Second)
	})
	for name, want := range map[string]float64{
		"noexec_taint_node": 2,
		"noexec_taint_pod":  2, // the outcome of the call: the first list queues nodes
	} {
		if n := addsToQueues(t)[name] - before[name]; n != want {
			t.Errorf("%v were added to the queues %s, want %v", n, name, want)
		}
	}
}

// addsToQueues returns the metric workqueue_adds_total, by the queue's name.
func addsToQueues(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	must(t, err)
	adds := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "workqueue_adds_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			adds[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
		}
	}
	return adds
}

// nowhere discards events.
type nowhere struct{}

func (nowhere) Create(context.Context, *v1.Event) error { return nil }

// heap returns the size of the heap in use after garbage collection.
func heap() uint64 {
	gort.GC()
	gort.GC()
	var stats gort.MemStats
	gort.ReadMemStats(&stats)
	return stats.HeapAlloc
}
