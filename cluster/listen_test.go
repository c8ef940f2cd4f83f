package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// byHand returns an adapter whose events the test sends, with pod p1 on node n, and the record of its calls.
func byHand(t *testing.T) (*adapter, *record) {
	t.Helper()
	client := fake.NewClientset()
	a := &adapter{client: client, informer: podInformer(client), seenPods: newSeenPods(), trimmer: newTrimmer(newNeeds()), recheck: make(chan struct{}, 1)}
	must(t, a.informer.AddIndexers(cache.Indexers{podsByNode: indexByNode}))
	told := &record{source: &reader{a, newNodes(taint.Rules{}, a.on, nil), a.needs}}
	a.setHandler(told, newWarnings(logr.Discard()))
	must(t, a.informer.GetStore().Add(aPod()))
	a.podEvents().OnAdd(aPod(), true)
	told.take()
	return a, told
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
		{"by pointer", &cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: aPod()}, true},
		{"only the key", cache.DeletedFinalStateUnknown{Key: "ns/p"}, true},
		{"the key and junk", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: "junk"}, true},
		{"the key and a nil pod", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: noPod}, true},
		{"another key", cache.DeletedFinalStateUnknown{Key: "ns/x"}, false},
		{"nothing at all", cache.DeletedFinalStateUnknown{}, false},
		{"nil", nil, false},
		{"a nil pointer", (*cache.DeletedFinalStateUnknown)(nil), false},
		{"junk", "junk", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, told := byHand(t)
			a.podEvents().OnDelete(test.last)
			if got := told.take(); (len(got) == 1) != test.gone {
				t.Errorf("told %q; gone: %t", got, test.gone)
			}
			if p := a.get("p1"); (p == nil) != test.gone {
				t.Errorf("got %+v; gone: %t", p, test.gone)
			}
		})
	}
}

func TestJunkEventsArePassedOver(t *testing.T) {
	a, told := byHand(t)
	for _, junk := range []any{nil, "junk", (*v1.Pod)(nil), &v1.Service{}} {
		a.podEvents().OnAdd(junk, false)
		a.podEvents().OnUpdate(junk, junk)
		if keys, err := indexByNode(junk); keys != nil || err != nil {
			t.Errorf("%T is filed under %v, %v", junk, keys, err)
		}
	}
	a.podEvents().OnUpdate("junk", aPod())
	if got := told.take(); len(got) != 1 {
		t.Errorf("told %q, want the pod whose past is not known", got)
	}
}

// The store is ahead of the events: a pod whose event has not come yet has no Bound, and a pod that was replaced
// differs from its namesake.
func TestAnAdapterKnowsAPodFromItsFirstEventOn(t *testing.T) {
	a, told := byHand(t)
	must(t, a.informer.GetStore().Update(aPod(withUID("p2"))))
	if pods := a.on("n"); len(pods) != 0 {
		t.Errorf("got %+v before its event", pods[0])
	}
	if p := a.get("p1"); p != nil {
		t.Errorf("got %+v for the pod that was replaced", p)
	}
	a.podEvents().OnUpdate(aPod(), aPod(withUID("p2")))
	if p := a.get("p2"); p == nil || len(told.take()) != 2 {
		t.Error("the successor is not there after its event")
	}
	a.podEvents().OnAdd(aPod(), false)
	if p := a.get("p1"); p != nil {
		t.Errorf("got %+v, which is another pod of the same name", p)
	}
	must(t, a.informer.GetStore().Update(aPod(withUID("p2"), inPhase(v1.PodFailed))))
	if p := a.get("p2"); p != nil {
		t.Errorf("got %+v, which has finished", p)
	}
}

// A change that the informer holds but has not sent an event for counts as seen when it is read.
func TestAPodWhoseEditHasNotBeenToldYetIsSeenNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := byHand(t)
		time.Sleep(time.Second)
		edited := aPod(func(p *v1.Pod) { p.ResourceVersion = "2" })
		must(t, a.informer.GetStore().Update(edited))
		if p := a.get("p1"); !p.Seen.Equal(time.Now()) {
			t.Errorf("seen at %s, want now", p.Seen)
		}
		a.podEvents().OnUpdate(aPod(), edited)
		told := a.get("p1")
		time.Sleep(time.Second)
		if p := a.get("p1"); !p.Seen.Equal(told.Seen) {
			t.Errorf("seen at %s, want %s, when it was told", p.Seen, told.Seen)
		}
		must(t, a.informer.GetStore().Update(edited.DeepCopy()))
		if p := a.get("p1"); !p.Seen.Equal(told.Seen) {
			t.Errorf("listed again as it was, it is seen at %s, want %s", p.Seen, told.Seen)
		}
	})
}

// An informer may still send queued events after the handler was removed.
func TestNothingIsToldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, told := byHand(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, a.run(ctx, told, newWarnings(logr.Discard()), func() { t.Error("listed") }))
		a.podEvents().OnAdd(aPod(withUID("p2")), false)
		a.podEvents().OnDelete(aPod())
		if got := told.take(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
	})
}

func TestTwoWatchersMayShareAnInformer(t *testing.T) {
	client := fake.NewClientset()
	pods := podInformer(client)
	for range 2 {
		if _, err := Adapt(client, pods, taint.Rules{}, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestAnInformerThatHasStoppedIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		pods := podInformer(client)
		w, err := Adapt(client, pods, taint.Rules{}, nil)
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		pods.RunWithContext(ctx)
		if err := w.Run(t.Context(), &record{source: w}); err == nil {
			t.Error("Run took an informer that has stopped")
		}
		if _, err := Adapt(client, pods, taint.Rules{}, nil); err != nil {
			t.Error("its index is there, so nothing is to be added")
		}
	})
}
