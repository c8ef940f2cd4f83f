package cluster

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// byHand returns stores, and an adapter whose events the test sends. Pod p1 on node n is listed.
func byHand(t *testing.T) (*stores, *adapter) {
	t.Helper()
	s := newStores()
	must(t, s.podStore.Replace([]any{aPod()}, ""))
	s.told.take()
	return s, &adapter{store: s.podStore}
}

func podInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	return informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
}

func TestADeletionThatWasMissedIsUnderstood(t *testing.T) {
	for _, test := range []struct {
		name string
		last any
		gone bool
	}{
		{"the last state", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: aPod()}, true},
		{"the name", cache.DeletedFinalStateUnknown{Key: "ns/p"}, true},
		{"another name", cache.DeletedFinalStateUnknown{Key: "ns/q"}, false},
		{"nothing at all", cache.DeletedFinalStateUnknown{}, false},
		{"nil", nil, false},
		{"a nil pointer", (*cache.DeletedFinalStateUnknown)(nil), false},
		{"junk", "junk", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, a := byHand(t)
			a.OnDelete(test.last)
			if got := s.told.take(); (len(got) == 1) != test.gone {
				t.Errorf("told %q; gone: %t", got, test.gone)
			}
			if p, _ := s.Pod("p1"); (p == nil) != test.gone {
				t.Errorf("got %+v; gone: %t", p, test.gone)
			}
		})
	}
}

// An informer may send events before the first list is checked, and queued events after the end.
func TestBeforeTheListAndAfterTheEndTheHandlerIsNotCalled(t *testing.T) {
	s, a := byHand(t)
	a.store = nil
	a.OnAdd(aPod(withUID("p2")), false)
	a.OnDelete(aPod())
	s.wantTold(t, "without a store")
}

func TestRunEndsWhileAnInformerIsNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.Discard()), time.Minute)
		defer cancel()
		w := Adapt(client, podInformer(client), taint.Rules{}, nil)
		must(t, w.Run(ctx, &record{source: w}))
		if w.HasSynced() {
			t.Error("it is in sync")
		}
	})
}

func TestAnInformerThatHasStoppedIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		pods := podInformer(client)
		w := Adapt(client, pods, taint.Rules{}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		pods.RunWithContext(ctx)
		if err := w.Run(t.Context(), &record{source: w}); err == nil {
			t.Error("Run took an informer that has stopped")
		}
	})
}

// While policies are replaced, the pods of an informer are followed by the policies before.
func TestAnInformerThatLacksWhatNewPoliciesNeedIsStillFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		client := fake.NewClientset(aPod(controlledBy("ReplicaSet", "web")), aNode(v1.Taint{Key: "k"}))
		pods := podInformer(client)
		must(t, pods.SetTransform(func(obj any) (any, error) {
			obj.(*v1.Pod).OwnerReferences = nil
			return obj, nil
		}))
		w := Adapt(client, pods, taint.Rules{}, nil)
		told := &record{source: w}
		ended := make(chan error)
		go pods.RunWithContext(ctx)
		go func() { ended <- w.Run(ctx, told) }()
		<-w.Synced()
		for range 2 {
			if err := <-w.Need(policy.Needs{PodOwners: true}); err == nil {
				t.Error("it is not noticed that the owners are missing")
			}
		}
		told.take()
		world := &world{t: t, client: client}
		world.set(aPod(func(p *v1.Pod) { p.Spec.Tolerations = nil }))
		synctest.Wait()
		if got := told.take(); !slices.Equal(got, []string{"pod p1 for n: n"}) {
			t.Errorf("told %q", got)
		}
		must(t, <-w.Need(policy.Needs{PodLabels: []string{"app"}}))
		if p, _ := w.Pod("p1"); p.Labels["app"] != "web" {
			t.Errorf("got labels %v", p.Labels)
		}
		cancel()
		must(t, <-ended)
	})
}
