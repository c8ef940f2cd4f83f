package cluster

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

var forBreakers = policy.Needs{NodeLabels: true, Breakers: true}

// another returns the node n under another name.
func another(name string, n *v1.Node) *v1.Node {
	n.Name, n.UID = name, types.UID(name)
	return n
}

func TestBreakersHearOfEachChangeOfLabelsAndTaints(t *testing.T) {
	soft := v1.Taint{Key: "soft", Effect: v1.TaintEffectPreferNoSchedule}
	full := v1.Taint{Key: "full", Effect: v1.TaintEffectNoSchedule}
	steps := []struct {
		name string
		do   func(w *world)
		want []string
	}{
		{"a heartbeat", func(w *world) {
			n := inZone("a")
			n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, LastHeartbeatTime: metav1.Now()}}
			n.Annotations, n.ResourceVersion = map[string]string{"a": "b"}, "7"
			w.set(n)
		}, []string{`nodes: n n1 in "a" with`}},
		{"a label", func(w *world) { w.set(inZone("b")) }, []string{`nodes: n n1 in "b" with`}},
		{"a NoSchedule taint", func(w *world) { w.set(inZone("b", full)) }, []string{`nodes: n n1 in "b" with full=:NoSchedule`}},
		{"a PreferNoSchedule taint", func(w *world) { w.set(inZone("b", soft)) }, []string{`nodes: n n1 in "b" with soft=:PreferNoSchedule`}},
		{"a NoExecute taint", func(w *world) { w.set(inZone("b", v1.Taint{Key: "k"})) }, []string{
			`nodes: n n1 in "b" with k=:NoExecute`, "node n: n1 with 1",
		}},
		{"when it was added", func(w *world) { w.set(inZone("b", v1.Taint{Key: "k", TimeAdded: new(metav1.Now())})) }, []string{
			`nodes: n n1 in "b" with k=:NoExecute`, "node n: n1 with 1",
		}},
		{"a value", func(w *world) { w.set(inZone("b", v1.Taint{Key: "k", Value: "v"})) }, []string{
			`nodes: n n1 in "b" with k=v:NoExecute`, "node n: n1 with 1",
		}},
		{"another node of its name", func(w *world) {
			n := inZone("b")
			n.UID = "n2"
			w.set(n)
		}, []string{`nodes: n n2 in "b" with`, "node n: n2 with 0"}},
		{"a second node", func(w *world) { w.set(another("m", inZone("c"))) }, []string{`nodes: m m in "c" with`}},
		{"it goes", func(w *world) { w.deleteNode("m") }, []string{"nodes: m gone"}},
		{"breakers are not needed any longer", func(w *world) { w.need(policy.Needs{}) }, nil},
		{"a change then", func(w *world) { w.set(another("m", inZone("d"))) }, nil},
		{"they are needed again", func(w *world) { w.need(forBreakers) }, []string{`all nodes: m m in "d" with, n n2 in "b" with`}},
		{"the same once more", func(w *world) { w.need(forBreakers) }, nil},
	}
	inWorlds(t, []runtime.Object{inZone("a")}, func(_ *testing.T, w *world) {
		w.told.take()
		w.need(forBreakers)
		w.expect("the list", `all nodes: n n1 in "a" with`)
		for _, step := range steps {
			time.Sleep(time.Second)
			step.do(w)
			w.expect(step.name, step.want...)
		}
	})
}

// feedOf returns a feed whose handler records.
func feedOf() (*Feed, *record) {
	told := &record{}
	f := NewFeed(taint.Rules{}, told, time.Now)
	told.source = f
	return f, told
}

// A breaker that saw the removals of a relist before its additions would trip.
func TestARelistIsOneBatchForBreakers(t *testing.T) {
	f, told := feedOf()
	if !f.Need(forBreakers) {
		t.Error("it needs no list")
	}
	down := v1.Taint{Key: "down", Effect: v1.TaintEffectNoSchedule}
	must(t, f.Nodes().Replace([]any{another("a", inZone("1")), another("b", inZone("1")), another("c", inZone("1"))}, "1"))
	must(t, f.Nodes().Replace([]any{another("b", inZone("1")), another("c", inZone("1", down)), another("d", inZone("2"))}, "2"))
	want := []string{
		`all nodes: a a in "1" with, b b in "1" with, c c in "1" with`,
		`all nodes: b b in "1" with, c c in "1" with down=:NoSchedule, d d in "2" with`,
	}
	if diff := cmp.Diff(want, told.told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A list that began before breakers were needed lacks labels, and must not make them trip.
func TestBreakersHearOfNothingBeforeAListForThem(t *testing.T) {
	s := newStores()
	s.nodeWatch.relists.begin(t.Context())
	s.Need(forBreakers)
	must(t, s.nodeStore.Replace([]any{inZone("a")}, "1"))
	s.nodeWatch.relists.completed()
	s.wantTold(t, "the list before")
	must(t, s.nodeStore.Update(inZone("b")))
	s.wantTold(t, "an event before the next list")
	s.nodeWatch.relists.begin(t.Context())
	must(t, s.nodeStore.Replace([]any{inZone("b")}, "2"))
	s.wantTold(t, "the next list", `all nodes: n n1 in "b" with`)
}

// follower keeps what an observer was told.
type follower struct {
	deaf
	nodes  map[string]*breaker.Node
	listed bool
	cache  *Feed
	early  string // a change that the cache has shown before the follower was told
}

func (f *follower) NodesChanged(changes []breaker.NodeChange, all bool) {
	for name, n := range f.nodes {
		if !all && !slices.ContainsFunc(changes, func(c breaker.NodeChange) bool { return c.Name == name }) {
			continue
		}
		if shown, _ := f.cache.PodsOn(name); shown == nil || shown.UID != n.UID || shown.Tainted() != evicts(n) {
			f.early = fmt.Sprintf("the cache shows %+v, and %+v was told last", shown, n)
		}
	}
	if f.nodes = maps.Clone(f.nodes); all {
		clear(f.nodes)
		f.listed = true
	}
	for _, c := range changes {
		if f.nodes[c.Name] = c.Node; c.Node == nil {
			delete(f.nodes, c.Name)
		}
	}
}

func evicts(n *breaker.Node) bool {
	return slices.ContainsFunc(n.Taints, func(t v1.Taint) bool { return t.Effect == v1.TaintEffectNoExecute })
}

// After any events and lists, and whenever needs change, an observer has the nodes that are there, and the cache their
// labels, exactly while they are needed. The cache shows a change only once the observer has heard of it: otherwise a
// shard that reads the cache for another cause judges a new taint before breakers have seen it.
func TestAnObserverHasTheNodesThatAreThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		told := &follower{nodes: map[string]*breaker.Node{}}
		f := NewFeed(taint.Rules{}, told, time.Now)
		told.cache = f
		there, needs, listed := map[string]*v1.Node{}, policy.Needs{}, false
		do := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		draw := func() *v1.Node {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "node")
			n := another(name, inZone(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "zone")))
			n.UID += types.UID(rapid.SampledFrom([]string{"", "'"}).Draw(t, "life"))
			for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(t, "taints") {
				n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: key, Effect: rapid.SampledFrom([]v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute}).Draw(t, "effect")})
			}
			return n
		}
		list := func() {
			items := []any{}
			for _, n := range there {
				items = append(items, n)
			}
			do(f.Nodes().Replace(items, ""))
			listed = true
		}
		t.Repeat(map[string]func(*rapid.T){
			"update": func(*rapid.T) {
				n := draw()
				there[n.Name] = n
				if listed {
					do(f.Nodes().Update(n))
				}
			},
			"delete": func(*rapid.T) {
				n := draw()
				if listed && there[n.Name] != nil {
					do(f.Nodes().Delete(there[n.Name]))
				}
				delete(there, n.Name)
			},
			"missed": func(*rapid.T) {
				n := draw()
				there[n.Name] = n
				list()
			},
			"need": func(*rapid.T) {
				before := needs.Breakers
				needs = rapid.SampledFrom([]policy.Needs{{}, {NodeLabels: true}, forBreakers, {Triggers: []string{"x"}}}).Draw(t, "needs")
				if !before || !needs.Breakers {
					told.nodes, told.listed = map[string]*breaker.Node{}, false // a new need begins with all nodes
				}
				if f.Need(needs) {
					list()
				}
			},
			"": func(*rapid.T) {
				if !listed {
					return
				}
				if told.early != "" {
					t.Error(told.early)
				}
				if told.listed != needs.Breakers {
					t.Errorf("listed %t, want %t", told.listed, needs.Breakers)
				}
				for name, n := range there {
					if got, _ := f.PodsOn(name); (got.Labels["zone"] == n.Labels["zone"]) != needs.NodeLabels {
						t.Errorf("node %s of %v has labels %v, needed %+v", name, n.Labels, got.Labels, needs)
					}
				}
				if got, want := described(told.nodes), describedWhole(there, needs.Breakers); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			},
		})
	})
}

func described(nodes map[string]*breaker.Node) (list []string) {
	for name, n := range nodes {
		line := fmt.Sprint(name, n.UID, n.Labels)
		for i := range n.Taints {
			line += n.Taints[i].Key + string(n.Taints[i].Effect)
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

func describedWhole(there map[string]*v1.Node, observed bool) []string {
	nodes := map[string]*breaker.Node{}
	for name, n := range there {
		if observed {
			nodes[name] = &breaker.Node{UID: n.UID, Labels: n.Labels, Taints: n.Spec.Taints}
		}
	}
	return described(nodes)
}
