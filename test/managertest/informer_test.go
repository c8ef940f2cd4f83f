package managertest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	taintmanager "github.com/taint-manager/taint-manager"
)

// inBothModes runs a test with a manager that watches pods itself, and with one that uses a caller's informer of
// pods.
func inBothModes(t *testing.T, test func(t *testing.T, pods func(t *testing.T, client kubernetes.Interface) coreinformers.PodInformer)) {
	t.Helper()
	for name, pods := range map[string]func(t *testing.T, client kubernetes.Interface) coreinformers.PodInformer{
		"own watches":         func(*testing.T, kubernetes.Interface) coreinformers.PodInformer { return nil },
		"a caller's informer": sharedPods,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, pods) })
		})
	}
}

// sharedPods returns an informer that runs until the test ends.
func sharedPods(t *testing.T, client kubernetes.Interface) coreinformers.PodInformer {
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	run(t, pods.Informer())
	return pods
}

func run(t *testing.T, informer cache.SharedIndexInformer) {
	ctx, stop := context.WithCancel(context.Background())
	go informer.RunWithContext(ctx)
	t.Cleanup(func() {
		stop()
		synctest.Wait()
	})
}

// expired returns the status with which a watch ends that can't be resumed.
func expired() *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired}
}

func TestATaintThatIsSetAnewInAGapOfTheNodeWatchHasANewCountdown(t *testing.T) {
	inBothModes(t, func(t *testing.T, pods func(*testing.T, kubernetes.Interface) coreinformers.PodInformer) {
		node := func(version string) *v1.Node {
			n := taintedNode()
			n.ResourceVersion, n.Spec.Taints[0].TimeAdded = version, new(metav1.Now())
			return n
		}
		client, evictor := fake.NewClientset(node("10"), podOn("node", "p", bears(20))), newClock()
		broken := watch.NewFake()
		watches := []watch.Interface{broken, watch.NewFake()}
		client.PrependWatchReactor("nodes", func(clienttesting.Action) (bool, watch.Interface, error) {
			next := watches[0]
			watches = watches[1:]
			return true, next, nil
		})
		startWith(t, client, pods(t, client), taintmanager.Options{Evictor: evictor})
		time.Sleep(10 * time.Second)
		_, err := client.CoreV1().Nodes().Update(t.Context(), node("11"), metav1.UpdateOptions{})
		must(t, err)
		time.Sleep(time.Second)
		broken.Error(expired())
		time.Sleep(time.Minute)
		evictor.goes(t, "p", 31*time.Second)
	})
}

func TestAManagerThatMayNotWatchNodesEvictsNobodyAndSaysWhy(t *testing.T) {
	inBothModes(t, func(t *testing.T, pods func(*testing.T, kubernetes.Interface) coreinformers.PodInformer) {
		client, evictor := fake.NewClientset(taintedNode(), podOn("node", "goes")), &recorder{}
		client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(v1.Resource("nodes"), "", nil)
		})
		r := startWith(t, client, pods(t, client), taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Minute)
		if trouble := r.Trouble(); trouble == nil || !strings.Contains(trouble.Error(), "nodes is forbidden") {
			t.Errorf("trouble %v", trouble)
		}
		if len(evictor.names()) != 0 || r.HasSynced() {
			t.Errorf("evicted %v, in sync %t", evictor.names(), r.HasSynced())
		}
		r.stop(t)
	})
}

func TestAManagerIsInSyncOnceTheCallersInformerAndItsOwnWatchAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(taintedNode(), podOn("node", "goes"))
		pods := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods()
		evictor := &recorder{}
		r := startWith(t, client, pods, taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Minute)
		if r.HasSynced() || r.Trouble() != nil {
			t.Errorf("before the informer runs: in sync %t, trouble %v", r.HasSynced(), r.Trouble())
		}
		run(t, pods.Informer())
		time.Sleep(time.Second)
		if got := evictor.names(); !r.HasSynced() || !slices.Equal(got, []string{"goes"}) {
			t.Errorf("once it runs: in sync %t, evicted %v", r.HasSynced(), got)
		}
	})
}

func TestNodesAreWatchedByTheClientForWatches(t *testing.T) {
	inBothModes(t, func(t *testing.T, pods func(*testing.T, kubernetes.Interface) coreinformers.PodInformer) {
		client, watching := fake.NewClientset(taintedNode()), fake.NewClientset(taintedNode())
		r := startWith(t, client, pods(t, client), taintmanager.Options{Evictor: &recorder{}, Watching: watching})
		time.Sleep(time.Second)
		if !r.HasSynced() || len(r.Tainted()) != 1 {
			t.Errorf("in sync %t, %d tainted nodes", r.HasSynced(), len(r.Tainted()))
		}
		for _, action := range client.Actions() {
			if action.GetResource().Resource == "nodes" {
				t.Errorf("the other client did %s nodes", action.GetVerb())
			}
		}
	})
}

// relisting lists a pod, of one version, as a new object each time.
type relisting struct {
	pod     *v1.Pod
	lists   int
	watches []*watch.FakeWatcher
}

func (r *relisting) List(metav1.ListOptions) (runtime.Object, error) {
	r.lists++
	return &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}, Items: []v1.Pod{*r.pod.DeepCopy()}}, nil
}

func (r *relisting) Watch(metav1.ListOptions) (watch.Interface, error) {
	r.watches = append(r.watches, watch.NewFake())
	return r.watches[len(r.watches)-1], nil
}

func (*relisting) IsWatchListSemanticsUnSupported() bool { return true }

// After a relist an informer notifies only those handlers of an unchanged pod whose resync is due at that time.
func TestAPodThatARelistHasNotChangedIsEvictedInTime(t *testing.T) {
	const get = 10 * time.Millisecond // how long a GET of the node takes
	for name, c := range map[string]struct {
		resync time.Duration // the informer's period; 0 means none
		others time.Duration // that of another handler; 0 means that there is none
		late   bool          // Run starts after the informer has synced
	}{
		"alone":                                {},
		"Run starts late":                      {late: true},
		"with resyncs":                         {resync: 45 * time.Second},
		"with resyncs, late":                   {resync: 45 * time.Second, late: true},
		"another handler resyncs":              {others: 10 * time.Second},
		"another handler resyncs, late":        {others: 10 * time.Second, late: true},
		"another handler resyncs sooner":       {resync: time.Hour, others: 10 * time.Second},
		"another handler resyncs sooner, late": {resync: time.Hour, others: 10 * time.Second, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &relisting{pod: podOn("node", "p", bears(300))}
				informer := cache.NewSharedIndexInformer(source, &v1.Pod{}, c.resync, cache.Indexers{})
				if c.others > 0 {
					_, err := informer.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, c.others)
					must(t, err)
				}
				evictor := newClock()
				client := fake.NewClientset(taintedNode(), source.pod)
				client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
					time.Sleep(get)
					return false, nil, nil
				})
				begin := func() {
					startWith(t, client, fedPods{SharedIndexInformer: informer}, taintmanager.Options{Evictor: evictor, Events: nowhere{}})
				}
				if !c.late {
					begin()
				}
				run(t, informer)
				due := 300*time.Second + get
				if time.Sleep(20 * time.Second); c.late {
					begin()
					due += 20 * time.Second
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				source.watches[0].Error(expired())
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if source.lists != 2 {
					t.Errorf("%d lists, want 2", source.lists)
				}
				evictor.goes(t, "p", due)
			})
		})
	}
}
