package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/policy"
)

// everything is all that policies can need.
var everything = policy.Needs{
	NodeLabels: true, PodOwners: true, NamespaceLabels: true, GracePeriods: true, Breakers: true, Triggers: []string{"drain"},
}

// inZone returns the node n, in this zone, with these taints.
func inZone(zone string, taints ...v1.Taint) *v1.Node {
	n := aNode(taints...)
	n.Labels = map[string]string{"zone": zone}
	return n
}

// need waits until the cache has what is needed, and checks that there is no error.
func (w *world) need(n policy.Needs) {
	w.t.Helper()
	if err := <-w.source.Need(n); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) labels() map[string]string {
	n, _ := w.source.PodsOn("n")
	return n.Labels
}

// What of a node or a pod leads to a call of the handler, by what is needed.
func TestWhatIsJudgedAgainDependsOnWhatIsNeeded(t *testing.T) {
	noSchedule := func(key string) v1.Taint { return v1.Taint{Key: key, Effect: v1.TaintEffectNoSchedule} }
	triggers := func(n policy.Needs) bool { return len(n.Triggers)+len(n.Audited) > 0 }
	tainted, bare := v1.Taint{Key: "k"}, []v1.Taint(nil)
	heartbeat := aNode(tainted)
	heartbeat.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, LastHeartbeatTime: metav1.Now()}}
	for _, c := range []struct {
		name   string
		from   *v1.Node
		change runtime.Object
		needs  func(n policy.Needs) bool // the handler is called; nil: never
		call   string
	}{
		{"a label of a tainted node", inZone("a", tainted), inZone("b", tainted), func(n policy.Needs) bool { return n.NodeLabels }, "node n: n1 with 1"},
		{"no labels any longer", inZone("a", tainted), aNode(tainted), func(n policy.Needs) bool { return n.NodeLabels }, "node n: n1 with 1"},
		{"a label of a node without taints", inZone("a", bare...), inZone("b", bare...), nil, ""},
		{"a NoSchedule taint of no policy", aNode(tainted), aNode(tainted, noSchedule("other")), nil, ""},
		{"a NoSchedule taint of a policy", aNode(tainted), aNode(tainted, noSchedule("drain")), triggers, "node n: n1 with 1"},
		{"it is all that the node has", aNode(), aNode(noSchedule("drain")), triggers, "node n: n1 with 0"},
		{"its value", aNode(noSchedule("drain")), aNode(v1.Taint{Key: "drain", Value: "go", Effect: v1.TaintEffectNoSchedule}), triggers, "node n: n1 with 0"},
		{"it is lifted", aNode(noSchedule("drain")), aNode(), triggers, "node n: n1 with 0"},
		{"a label of a node that has only it", inZone("a", noSchedule("drain")), inZone("b", noSchedule("drain")), func(n policy.Needs) bool { return n.NodeLabels && triggers(n) }, "node n: n1 with 0"},
		{"a heartbeat", aNode(tainted), heartbeat, nil, ""},
		{"the kind of the controller", aNode(tainted), aPod(controlledBy("Job", "j")), func(n policy.Needs) bool { return n.PodOwners }, "pod p1 for n: n"},
		{"the grace period", aNode(tainted), aPod(func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(5)) }), nil, ""},
		{"a label of the pod", aNode(tainted), aPod(func(p *v1.Pod) { p.Labels["app"] = "other" }), func(n policy.Needs) bool { return len(n.PodLabels) > 0 }, "pod p1 for n: n"},
	} {
		for _, needs := range []policy.Needs{
			{},
			{NodeLabels: true},
			{PodOwners: true},
			{GracePeriods: true},
			{NamespaceLabels: true},
			{PodLabels: []string{"app"}},
			{Triggers: []string{"drain"}},
			{Audited: []string{"drain"}},
			{NodeLabels: true, Triggers: []string{"drain"}},
		} {
			inWorlds(t, []runtime.Object{c.from, aPod()}, func(_ *testing.T, w *world) {
				w.need(needs)
				time.Sleep(time.Second)
				synctest.Wait()
				w.told.take()
				w.set(c.change)
				var want []string
				if c.needs != nil && c.needs(needs) {
					want = []string{c.call}
				}
				w.expect(c.name, want...)
			})
		}
	}
}

func TestNeedBeforeRunIsMetByTheFirstLists(t *testing.T) {
	for name, start := range sources() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
				defer cancel()
				namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"tier": "prod"}}}
				pod := aPod(controlledBy("StatefulSet", "db"))
				pod.Spec.TerminationGracePeriodSeconds = new(int64(45))
				w := start(t, ctx, fake.NewClientset(inZone("a"), pod, namespace))
				met := w.Need(everything)
				synctest.Wait()
				if len(met) != 0 || closed(errorless(met)) {
					t.Fatal("needs are met before anything was listed")
				}
				go func() { _ = w.Run(ctx, &record{source: w}) }()
				must(t, <-met)
				n, _ := w.PodsOn("n")
				labels, known := w.Namespaces()("ns")
				if !w.HasSynced() || n.Labels["zone"] != "a" || !known || labels["tier"] != "prod" {
					t.Errorf("in sync %t, node %+v, namespace %v", w.HasSynced(), n, labels)
				}
				p, _ := w.Pod("p1")
				if p.Controller == nil || p.Controller.Kind != "StatefulSet" || *p.GracePeriodSeconds != 45 {
					t.Errorf("got %+v", p)
				}
			})
		})
	}
}

// needing returns needs that follow those of a cache without policies.
func needing(n policy.Needs) *atomic.Pointer[needs] {
	now := newNeeds()
	now.Store(now.Load().next(n))
	return now
}

// closed reports whether a channel is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// errorless returns a channel that is closed if the other one is.
func errorless(c <-chan error) <-chan struct{} {
	done := make(chan struct{})
	select {
	case _, open := <-c:
		if !open {
			close(done)
		}
	default:
	}
	return done
}

func TestAWideningListsNodesOnceAndPodsNotAtAll(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		a.labels = map[string]string{"zone": "a"}
		a.over(t, func(w *Watcher, told *record) {
			list := "list nodes"
			if a.streams {
				list = "stream nodes"
			}
			time.Sleep(time.Minute)
			a.tookOf("nothing")
			must(t, <-w.Need(policy.Needs{NodeLabels: true, PodOwners: true, GracePeriods: true}))
			told.take()
			if n, _ := w.PodsOn("n"); n.Labels["zone"] != "a" {
				t.Errorf("got %+v", n)
			}
			time.Sleep(time.Minute)
			asked := a.tookOf("")
			lists := slices.DeleteFunc(slices.Clone(asked), func(ask string) bool { return ask != list })
			if len(lists) != 1 || slices.ContainsFunc(asked, func(ask string) bool { return strings.Contains(ask, "pods") }) {
				t.Errorf("asked %q, want one list of nodes", asked)
			}
			if len(asked) == 0 || strings.HasPrefix(asked[0], "watch") {
				t.Errorf("asked %q, want no watch before the list", asked)
			}
			must(t, w.Trouble())

			// The watch goes on, and shows labels.
			node := a.node()
			node.Labels = map[string]string{"zone": "b"}
			a.sendOf("nodes", watch.Modified, node)
			if n, _ := w.PodsOn("n"); n.Labels["zone"] != "b" {
				t.Errorf("after an event: %+v", n)
			}
			if got := told.take(); !slices.Equal(got, []string{"node n: n1 with 1"}) {
				t.Errorf("told %q", got)
			}

			// What is there already needs no list.
			must(t, <-w.Need(policy.Needs{NodeLabels: true}))
			if asked := a.tookOf(""); len(asked) != 0 {
				t.Errorf("asked %q for less", asked)
			}
		})
	})
}

// Whenever Need is called, and however often, the cache ends up with what the last call needs.
func TestTheLastNeedCounts(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		a.labels = map[string]string{"zone": "a"}
		for _, calls := range [][]policy.Needs{
			{{}, {NodeLabels: true}},
			{{NodeLabels: true}, {}},
			{{NodeLabels: true}, {}, {NodeLabels: true}},
			{everything, {NodeLabels: true}},
			{{NamespaceLabels: true}, {}, everything},
			{{Breakers: true, NodeLabels: true}, {Triggers: []string{"drain"}}},
		} {
			for _, pause := range []time.Duration{0, time.Millisecond, time.Second} {
				a.over(t, func(w *Watcher, _ *record) {
					var met <-chan error
					for _, n := range calls {
						met = w.Need(n)
						time.Sleep(pause)
					}
					must(t, <-met)
					last := calls[len(calls)-1]
					n, _ := w.PodsOn("n")
					if (n.Labels != nil) != last.NodeLabels || (w.Namespaces() != nil) != last.NamespaceLabels {
						t.Errorf("%+v after %v each: node %+v", calls, pause, n)
					}
				})
			}
		}
	})
}

// The race detector looks on.
func TestManyGoroutinesMayReadAndCallNeedWhileTheWatcherWrites(t *testing.T) {
	inWorlds(t, []runtime.Object{inZone("a", v1.Taint{Key: "k"}), aPod()}, func(t *testing.T, w *world) {
		var calling sync.WaitGroup
		for i := range 8 {
			calling.Go(func() {
				for j := range 20 {
					met := w.source.Need(policy.Needs{NodeLabels: (i+j)%2 == 0, NamespaceLabels: j%3 == 0, Breakers: i == 0})
					time.Sleep(time.Duration(i*j) * time.Millisecond)
					w.source.Namespaces()
					w.source.Pod("p1")
					w.source.PodsOn("n")
					must(t, <-met)
				}
			})
		}
		for i := range 100 {
			w.set(inZone(string(rune('a'+i%2)), v1.Taint{Key: "k"}))
			w.set(aPod(func(p *v1.Pod) { p.Generation = int64(i) }))
			time.Sleep(3 * time.Millisecond)
		}
		calling.Wait()
		w.need(policy.Needs{NodeLabels: true})
		time.Sleep(time.Minute)
		w.set(inZone("z", v1.Taint{Key: "k"}))
		synctest.Wait()
		if got := w.labels(); !maps.Equal(got, map[string]string{"zone": "z"}) {
			t.Errorf("got labels %v", got)
		}
	})
}

// Values of taints change what a policy decides, and no data of nodes, so they need no list.
func TestNeedsWithoutOtherDataOfNodesAreFollowedAtOnce(t *testing.T) {
	a := &api{format: runtime.ContentTypeProtobuf}
	a.over(t, func(w *Watcher, _ *record) {
		a.tookOf("nothing")
		met := w.Need(policy.Needs{Values: []string{"go"}})
		if !closed(errorless(met)) || !slices.Equal(w.nodes.needs.Load().Values, []string{"go"}) {
			t.Error("the values are not followed")
		}
		time.Sleep(time.Minute)
		if asked := a.tookOf(""); len(asked) != 0 {
			t.Errorf("asked %q", asked)
		}
	})
}
