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

// byHand returns stores, and a listener whose events the test sends. The listener has listed pod p1 on node n.
func byHand(t *testing.T) (*stores, *listener) {
	t.Helper()
	s := newStores()
	l := &listener{store: s.podStore, list: map[string]any{}}
	l.OnAdd(aPod(), true)
	l.listed()
	s.told.take()
	return s, l
}

func podInformer(client kubernetes.Interface) cache.SharedIndexInformer {
	return informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
}

func TestADeletionThatWasMissedIsUnderstood(t *testing.T) {
	var noPod *v1.Pod
	for _, test := range []struct {
		name string
		last any
		gone bool
	}{
		{"the last state", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: aPod()}, true},
		{"only the key", cache.DeletedFinalStateUnknown{Key: "ns/p"}, true},
		{"the key and junk", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: "junk"}, true},
		{"the key and a nil pod", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: noPod}, true},
		{"another key", cache.DeletedFinalStateUnknown{Key: "ns/x"}, false},
		{"nothing at all", cache.DeletedFinalStateUnknown{}, false},
		{"nil", nil, false},
		{"a nil pointer", (*cache.DeletedFinalStateUnknown)(nil), false},
		{"junk", "junk", false},
	} {
		for name, collecting := range map[string]bool{"": false, ", while the list is collected": true} {
			t.Run(test.name+name, func(t *testing.T) {
				s, l := byHand(t)
				if collecting {
					l = &listener{store: s.podStore, list: map[string]any{}}
					l.OnAdd(aPod(), true)
				}
				l.OnDelete(test.last)
				if collecting {
					l.listed()
				}
				if got := s.told.take(); (len(got) == 1) != test.gone {
					t.Errorf("told %q; gone: %t", got, test.gone)
				}
				if p, _ := s.Pod("p1"); (p == nil) != test.gone {
					t.Errorf("got %+v; gone: %t", p, test.gone)
				}
			})
		}
	}
}

func TestJunkEventsAreIgnored(t *testing.T) {
	s, l := byHand(t)
	for _, junk := range []any{nil, "junk", (*v1.Pod)(nil), &v1.Service{}, &v1.Pod{}, aPod(withUID(""))} {
		l.OnAdd(junk, false)
		l.OnUpdate(junk, junk)
	}
	l.OnUpdate("junk", aPod(func(p *v1.Pod) { p.Spec.Tolerations = nil }))
	s.wantTold(t, "a pod whose past is not known", "pod p1 for n: n")
}

// An informer may send what happens to a pod before it has sent all pods of its first list.
func TestAListWithEventsInItIsTakenInAsItIsAtItsEnd(t *testing.T) {
	s, _ := byHand(t)
	named := func(uid, name string) *v1.Pod {
		return aPod(withUID(typesUID("%s", uid)), func(p *v1.Pod) { p.Name = name })
	}
	l := &listener{store: s.podStore, list: map[string]any{}}
	l.OnAdd(named("a1", "a"), true)
	l.OnUpdate(named("a1", "a"), named("a2", "a"))
	l.OnAdd(named("b1", "b"), true)
	l.OnDelete(named("b1", "b"))
	s.wantTold(t, "the list is not complete")
	l.listed()
	s.wantTold(t, "the list is complete", "pod a2 for n: n", "pod p1 for n: gone")
}

// An informer may still send queued events after the handler was removed.
func TestAfterTheEndTheHandlerIsNotCalled(t *testing.T) {
	s, l := byHand(t)
	l.end()
	l.OnAdd(aPod(withUID("p2")), false)
	l.OnDelete(aPod())
	s.wantTold(t, "after the end")
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

func TestTwoWatchersMayShareAnInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(aPod())
		pods := podInformer(client)
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		ended := make(chan error, 2)
		for range 2 {
			w := Adapt(client, pods, taint.Rules{}, nil)
			go func() { ended <- w.Run(ctx, &record{source: w}) }()
			defer func() {
				if p, _ := w.Pod("p1"); p == nil {
					t.Error("a watcher does not know the pod")
				}
			}()
		}
		go pods.RunWithContext(ctx)
		time.Sleep(time.Second)
		cancel()
		must(t, <-ended)
		must(t, <-ended)
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
