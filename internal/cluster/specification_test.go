package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// start is the start of virtual time.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestBothSourcesTellOfWhatMayChangeAVerdictAndOfNothingElse(t *testing.T) {
	dedicated := v1.Taint{Key: "dedicated", Value: "a"}
	steps := []struct {
		name string
		do   func(w *world)
		want []string
	}{
		{"the first lists", func(*world) {}, []string{"node n: n1 with 1"}},
		{"a second taint", func(w *world) { w.set(aNode(dedicated, v1.Taint{Key: "x"})) }, []string{"node n: n1 with 2"}},
		{"another value", func(w *world) { w.set(aNode(v1.Taint{Key: "dedicated", Value: "b"})) }, []string{"node n: n1 with 1"}},
		{"all taints lifted", func(w *world) { w.set(aNode()) }, []string{"node n: n1 with 0"}},
		{"an untainted node goes", func(w *world) { w.deleteNode("n") }, nil},
		{"an untainted node comes", func(w *world) { w.set(aNode()) }, nil},
		{"another node of its name", func(w *world) {
			n := aNode()
			n.UID = "n2"
			w.set(n)
		}, []string{"node n: n2 with 0"}},
		{"it is tainted", func(w *world) {
			n := aNode(dedicated)
			n.UID = "n2"
			w.set(n)
		}, []string{"node n: n2 with 1"}},
		{"a tainted node goes", func(w *world) { w.deleteNode("n") }, []string{"node n: gone"}},
		{"a tainted node comes", func(w *world) { w.set(aNode(dedicated)) }, []string{"node n: n1 with 1"}},
		{"a status update of a pod", func(w *world) {
			w.set(aPod(func(p *v1.Pod) { p.Status.PodIP = "10.0.0.1" }))
		}, nil},
		{"its tolerations", func(w *world) {
			w.set(aPod(func(p *v1.Pod) { p.Spec.Tolerations[0].TolerationSeconds = new(int64(30)) }))
		}, []string{"pod p1 for n: n"}},
		{"a pod of the same name", func(w *world) { w.set(aPod(withUID("p2"))) }, []string{"pod p1 for n: gone", "pod p2 for n: n"}},
		{"it moves, which no pod does", func(w *world) { w.set(aPod(withUID("p2"), onNode("m"))) }, []string{"pod p2 for n: m", "pod p2 for m: m"}},
		{"it finishes", func(w *world) { w.set(aPod(withUID("p2"), onNode("m"), inPhase(v1.PodFailed))) }, []string{"pod p2 for m: gone"}},
		{"a finished pod goes", func(w *world) { w.deletePod("p") }, nil},
		{"a pod with a finalizer", func(w *world) { w.set(aPod(withUID("p4"), finalized)) }, []string{"pod p4 for n: n"}},
		{"it finishes, and the finalizer keeps it", func(w *world) {
			w.set(aPod(withUID("p4"), finalized, inPhase(v1.PodSucceeded)))
		}, []string{"pod p4 for n: n"}},
		{"the finalizer is removed", func(w *world) {
			w.set(aPod(withUID("p4"), inPhase(v1.PodSucceeded)))
		}, []string{"pod p4 for n: gone"}},
		{"that pod goes", func(w *world) { w.deletePod("p") }, nil},
		{"a pod without a node", func(w *world) { w.set(aPod(withUID("p3"), onNode(""))) }, nil},
		{"it is bound", func(w *world) { w.set(aPod(withUID("p3"))) }, []string{"pod p3 for n: n"}},
		{"it goes", func(w *world) { w.deletePod("p") }, []string{"pod p3 for n: gone"}},
		{"a pod without a UID", func(w *world) { w.set(aPod(withUID(""))) }, nil},
	}
	objects := []runtime.Object{aNode(dedicated), aPod()}
	inWorlds(t, objects, func(_ *testing.T, w *world) {
		for _, step := range steps {
			time.Sleep(time.Second)
			step.do(w)
			w.expect(step.name, step.want...)
		}
	})
}

func TestAPodIsBoundSinceTheEventThatShowsItFirst(t *testing.T) {
	listed := aPod(condition(v1.PodScheduled, v1.ConditionTrue, metav1.Date(1999, 12, 31, 23, 30, 0, 0, time.UTC)))
	bound := aPod(withUID("p2"), func(p *v1.Pod) { p.Name = "q" })
	unbound := bound.DeepCopy()
	unbound.Spec.NodeName = ""
	inWorlds(t, []runtime.Object{listed, unbound}, func(t *testing.T, w *world) {
		time.Sleep(6500 * time.Millisecond)
		w.set(bound)
		synctest.Wait()
		for uid, want := range map[types.UID]time.Time{
			"p1": time.Date(1999, 12, 31, 23, 30, 1, 0, time.UTC), // it is in the first list
			"p2": start.Add(6500 * time.Millisecond),
		} {
			if p, _ := w.source.Pod(uid); p == nil || !p.Bound.Equal(want) {
				t.Errorf("pod %s: got %+v, want bound at %s", uid, p, want)
			}
		}
	})
}

func TestATaintOfAnotherNodeOfTheSameNameIsANewOne(t *testing.T) {
	added := metav1.Date(1999, 12, 31, 23, 59, 0, 0, time.UTC)
	tainted := aNode(v1.Taint{Key: "k", TimeAdded: &added})
	inWorlds(t, []runtime.Object{tainted}, func(t *testing.T, w *world) {
		time.Sleep(3 * time.Second)
		other := tainted.DeepCopy()
		other.UID = "n2"
		w.set(other)
		synctest.Wait()
		n, _ := w.source.PodsOn("n")
		if want := start.Add(3 * time.Second); len(n.Taints) != 1 || !n.Taints[0][0].Since.Equal(want) {
			t.Errorf("got %+v, want one taint since %s", n, want)
		}
	})
}

// A history keeps eight states. The ninth makes room by joining the first two that no pod distinguishes. A pod that is
// not listed yet may distinguish them: joining them would make its eviction early; dropping the oldest makes it late.
func TestStatesThatNoPodTellsApartAreJoinedOnceAllPodsAreKnown(t *testing.T) {
	bearing := aPod(func(p *v1.Pod) { p.Spec.Tolerations = []v1.Toleration{{Key: "k", Value: "a"}} })
	for name, test := range map[string]struct {
		pods  []any // nil: they are not listed
		value string
		since time.Duration // of the first state that is left, relative to the start
	}{
		"no pod bears any":        {[]any{}, "b", 0},
		"a pod bears the first":   {[]any{bearing}, "a", 0},
		"the pods are not listed": {nil, "b", time.Second},
	} {
		now := start
		f := NewFeed(taint.Rules{}, &deaf{}, func() time.Time { return now })
		if test.pods != nil {
			must(t, f.Pods().Replace(test.pods, ""))
		}
		must(t, f.Nodes().Replace([]any{aNode(v1.Taint{Key: "k", Value: "a"})}, ""))
		for i := range 8 {
			now = now.Add(time.Second)
			must(t, f.Nodes().Update(aNode(v1.Taint{Key: "k", Value: string(rune('b' + i))})))
		}
		n, _ := f.PodsOn("n")
		h := n.Taints[0]
		if len(h) != 8 || !h[0].Since.Equal(start.Add(test.since)) || h[0].Taint.Value != test.value {
			t.Errorf("%s: got %+v, want eight states, the first %s since %v", name, h, test.value, test.since)
		}
	}
}

func TestAPodIsReadWithItsNodeAndANodeWithItsPods(t *testing.T) {
	objects := []runtime.Object{aNode(), aPod(), aPod(withUID("p2"), func(p *v1.Pod) { p.Name = "q" }, onNode("m"))}
	inWorlds(t, objects, func(t *testing.T, w *world) {
		if node, pods := w.source.PodsOn("n"); node == nil || node.UID != "n1" || len(pods) != 1 || pods[0].UID != "p1" {
			t.Errorf("got node %+v and pods %+v, want n1 and p1", node, pods)
		}
		if node, pods := w.source.PodsOn("m"); node != nil || len(pods) != 1 {
			t.Errorf("got node %+v and %d pods, want none and 1", node, len(pods))
		}
		if p, n := w.source.Pod("nobody"); p != nil || n != nil {
			t.Error("got what is not there")
		}
		if p, n := w.source.Pod("p1"); p == nil || n == nil || n.UID != "n1" {
			t.Errorf("got pod %+v and node %+v, want p1 and n1", p, n)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	inWorlds(t, []runtime.Object{aPod()}, func(t *testing.T, w *world) {
		if !w.source.HasSynced() || w.source.Trouble() != nil {
			t.Error("not synced, or in trouble")
		}
		w.told.take()
		if err := w.end(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		w.set(aPod(withUID("p2")))
		w.expect("after the end")
	})
}
