package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// byHand is an adapter whose events come by hand, with pod p1 on the tainted node n.
func byHand(t *testing.T) (*Adapter, *record) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	core := factory.Core().V1()
	a, err := Adapt(core.Pods().Informer(), core.Nodes().Informer(), taint.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	told := &record{source: a}
	a.let(told, newOddities(logr.Discard()))
	must(t, a.podInformer.GetStore().Add(aPod()))
	a.podEvents().OnAdd(aPod(), true)
	a.nodeEvents().OnAdd(aNode(v1.Taint{Key: "k"}), true)
	told.take()
	return a, told
}

func TestADeletionThatWasMissedIsUnderstood(t *testing.T) {
	var noPod *v1.Pod
	for _, test := range []struct {
		name string
		pod  any
		node any
		want int
	}{
		{"the last state", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: aPod()}, cache.DeletedFinalStateUnknown{Key: "n", Obj: aNode()}, 2},
		{"by pointer", &cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: aPod()}, &cache.DeletedFinalStateUnknown{Key: "n", Obj: aNode()}, 2},
		{"only the key", cache.DeletedFinalStateUnknown{Key: "ns/p"}, cache.DeletedFinalStateUnknown{Key: "n"}, 2},
		{"the key and junk", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: "junk"}, cache.DeletedFinalStateUnknown{Key: "n", Obj: 7}, 2},
		{"the key and a nil pod", cache.DeletedFinalStateUnknown{Key: "ns/p", Obj: noPod}, cache.DeletedFinalStateUnknown{Key: "n", Obj: (*v1.Node)(nil)}, 2},
		{"another key", cache.DeletedFinalStateUnknown{Key: "ns/x"}, cache.DeletedFinalStateUnknown{Key: "x"}, 0},
		{"nothing at all", cache.DeletedFinalStateUnknown{}, cache.DeletedFinalStateUnknown{}, 0},
		{"nil", nil, nil, 0},
		{"a nil pointer", (*cache.DeletedFinalStateUnknown)(nil), (*cache.DeletedFinalStateUnknown)(nil), 0},
		{"junk", "junk", 7, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, told := byHand(t)
			a.podEvents().OnDelete(test.pod)
			a.nodeEvents().OnDelete(test.node)
			if got := told.take(); len(got) != test.want {
				t.Errorf("told %q, want %d changes", got, test.want)
			}
			n, _ := a.PodsOn("n")
			p, _ := a.Pod("p1")
			if gone := test.want > 0; (n == nil) != gone || (p == nil) != gone {
				t.Errorf("gone: node %t, pod %t, want %t", n == nil, p == nil, gone)
			}
		})
	}
}

func TestJunkEventsArePassedOver(t *testing.T) {
	a, told := byHand(t)
	for _, junk := range []any{nil, "junk", (*v1.Pod)(nil), (*v1.Node)(nil), &v1.Service{}} {
		for _, events := range []cache.ResourceEventHandler{a.podEvents(), a.nodeEvents()} {
			events.OnAdd(junk, false)
			events.OnUpdate(junk, junk)
		}
		if keys, err := indexByNode(junk); keys != nil || err != nil {
			t.Errorf("%T is filed under %v, %v", junk, keys, err)
		}
	}
	a.podEvents().OnUpdate("junk", aPod())
	if got := told.take(); len(got) != 1 {
		t.Errorf("told %q, want the pod whose past is not known", got)
	}
}

// The store runs ahead of the events: a pod whose event has not come yet has no Bound, and one that
// was replaced is not its namesake.
func TestAnAdapterKnowsAPodFromItsFirstEventOn(t *testing.T) {
	a, told := byHand(t)
	must(t, a.podInformer.GetStore().Update(aPod(withUID("p2"))))
	if _, pods := a.PodsOn("n"); len(pods) != 0 {
		t.Errorf("got %+v before its event", pods[0])
	}
	if p, _ := a.Pod("p1"); p != nil {
		t.Errorf("got %+v for the pod that was replaced", p)
	}
	a.podEvents().OnUpdate(aPod(), aPod(withUID("p2")))
	if p, _ := a.Pod("p2"); p == nil || len(told.take()) != 2 {
		t.Error("the successor is not there after its event")
	}
	a.podEvents().OnAdd(aPod(), false)
	if p, _ := a.Pod("p1"); p != nil {
		t.Errorf("got %+v, which is another pod of the same name", p)
	}
	must(t, a.podInformer.GetStore().Update(aPod(withUID("p2"), inPhase(v1.PodFailed))))
	if p, _ := a.Pod("p2"); p != nil {
		t.Errorf("got %+v, which has finished", p)
	}
}

// What the informer holds and has not told of yet is learnt at this moment.
func TestAPodWhoseEditHasNotBeenToldYetIsSeenNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := byHand(t)
		time.Sleep(time.Second)
		edited := aPod()
		must(t, a.podInformer.GetStore().Update(edited))
		if p, _ := a.Pod("p1"); !p.Seen.Equal(time.Now()) {
			t.Errorf("seen at %s, want now", p.Seen)
		}
		a.podEvents().OnUpdate(aPod(), edited)
		told, _ := a.Pod("p1")
		time.Sleep(time.Second)
		if p, _ := a.Pod("p1"); !p.Seen.Equal(told.Seen) {
			t.Errorf("seen at %s, want %s, when it was told", p.Seen, told.Seen)
		}
	})
}

// An informer may hand over events that it had queued when the handler was taken away.
func TestNothingIsToldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		core := factory.Core().V1()
		a, err := Adapt(core.Pods().Informer(), core.Nodes().Informer(), taint.Rules{})
		must(t, err)
		told := &record{source: a}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, a.Run(ctx, told))
		a.podEvents().OnAdd(aPod(), false)
		a.podEvents().OnDelete(aPod())
		a.nodeEvents().OnAdd(aNode(v1.Taint{Key: "k"}), false)
		a.nodeEvents().OnDelete(aNode())
		if got := told.take(); len(got) != 0 || a.HasSynced() {
			t.Errorf("told %q, in sync %t", got, a.HasSynced())
		}
	})
}

func TestTwoAdaptersMayShareInformers(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	core := factory.Core().V1()
	for range 2 {
		if _, err := Adapt(core.Pods().Informer(), core.Nodes().Informer(), taint.Rules{}); err != nil {
			t.Error(err)
		}
	}
}

func TestInformersThatHaveStoppedAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		core := factory.Core().V1()
		a, err := Adapt(core.Pods().Informer(), core.Nodes().Informer(), taint.Rules{})
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		factory.StartWithContext(ctx)
		<-ctx.Done()
		factory.Shutdown()
		if err := a.Run(t.Context(), &record{source: a}); err == nil {
			t.Error("Run took informers that have stopped")
		}
		if _, err := Adapt(core.Pods().Informer(), core.Nodes().Informer(), taint.Rules{}); err != nil {
			t.Error("its index is there, so nothing is to be added")
		}
	})
}
