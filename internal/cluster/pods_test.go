package cluster

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/policy"
)

func typesUID(format string, args ...any) types.UID { return types.UID(fmt.Sprintf(format, args...)) }

// checkInvariants checks that the three indexes agree.
func checkInvariants(t interface{ Fatalf(string, ...any) }, table *pods) {
	named, crowded := 0, 0
	for namespace, names := range table.byName {
		named += len(names)
		if len(names) == 0 {
			t.Fatalf("namespace %q is kept without pods", namespace)
		}
	}
	for name, list := range table.byNode {
		crowded += len(list)
		if len(list) == 0 {
			t.Fatalf("node %q is kept without pods", name)
		}
	}
	for uid, e := range table.byUID {
		if e.UID != uid || table.byName[e.Namespace][e.Name] != e || !slices.Contains(table.byNode[e.Node], e) {
			t.Fatalf("pod %s can't be found in all ways", uid)
		}
	}
	if n := len(table.byUID); named != n || crowded != n {
		t.Fatalf("%d pods by UID, %d by name, %d by node", n, named, crowded)
	}
}

// The twin is a map: a new pod replaces its namesake, every change is reported, Bound stays, and Seen stays as long as
// the node and the tolerations do.
func TestPodsAreLikeAPlainMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		needs := needing(policy.Needs{PodLabels: []string{"app"}})
		table, twin, now := newPods(needs), map[types.UID]*entry{}, time.Unix(0, 0)
		table.now = func() time.Time { return now }
		table.replace(nil, "")
		told := map[types.UID]bool{}
		table.notify = func(uid types.UID, _ string) { told[uid] = true }
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { compareWithTwin(t, table, twin) },
			"put": func(t *rapid.T) {
				before := maps.Clone(twin)
				clear(told)
				now = now.Add(time.Second)
				p := table.entryOf(drawPod(t))
				putInTwin(twin, new(*p), now)
				table.put(p)
				checkTold(t, before, twin, told)
			},
			"drop": func(t *rapid.T) {
				uid := drawUID(t)
				table.drop(uid)
				delete(twin, uid)
			},
			"list": func(t *rapid.T) {
				before, listed := maps.Clone(twin), []*entry{}
				clear(told)
				now = now.Add(time.Second)
				for range rapid.IntRange(0, 3).Draw(t, "pods") {
					p := table.entryOf(drawPod(t))
					if !slices.ContainsFunc(listed, func(e *entry) bool { return e.Key() == p.Key() }) {
						listed = append(listed, p)
						putInTwin(twin, new(*p), now)
					}
				}
				maps.DeleteFunc(twin, func(uid types.UID, _ *entry) bool {
					return !slices.ContainsFunc(listed, func(e *entry) bool { return e.UID == uid })
				})
				table.replace(listed, "")
				checkTold(t, before, twin, told)
			},
		})
	})
}

func TestAPodUnderASecondNameDoesNoHarm(t *testing.T) {
	table := newPods(needing(policy.Needs{}))
	for uid, name := range map[types.UID]string{"u1": "a", "u2": "b"} {
		table.put(table.entryOf(aPod(withUID(uid), func(p *v1.Pod) { p.Name = name }), time.Time{}))
	}
	table.put(table.entryOf(aPod(withUID("u1"), func(p *v1.Pod) { p.Name, p.Generation = "b", 2 }), time.Time{}))
	table.drop("u2")
	table.drop("u1")
	if len(table.byUID)+len(table.byNode)+len(table.byName) > 0 {
		t.Errorf("left: %v, %v, %v", table.byUID, table.byNode, table.byName)
	}
}

func drawUID(t *rapid.T) types.UID { return typesUID("u%d", rapid.IntRange(0, 5).Draw(t, "uid")) }

// drawPod draws one of few pods, so that they collide; a UID always has one name.
func drawPod(t *rapid.T) (*v1.Pod, time.Time) {
	uid := drawUID(t)
	return aPod(withUID(uid), func(p *v1.Pod) {
		p.Name = map[types.UID]string{"u0": "a", "u1": "a", "u2": "b", "u3": "b"}[uid]
		if p.Name == "" {
			p.Name, p.Namespace = string(uid), "other"
		}
		p.Spec.NodeName = rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "node")
		p.Labels["app"] = rapid.SampledFrom([]string{"web", "db"}).Draw(t, "label")
		p.Spec.Tolerations[0].TolerationSeconds = new(rapid.Int64Range(60, 61).Draw(t, "seconds"))
		p.Generation = rapid.Int64Range(1, 2).Draw(t, "generation")
		p.Status.Phase = rapid.SampledFrom([]v1.PodPhase{v1.PodRunning, v1.PodFailed}).Draw(t, "phase")
	}), time.Unix(rapid.Int64Range(0, 9).Draw(t, "bound"), 0)
}

func putInTwin(twin map[types.UID]*entry, p *entry, now time.Time) {
	maps.DeleteFunc(twin, func(uid types.UID, old *entry) bool { return old.Key() == p.Key() && uid != p.UID })
	if p.Node == "" || p.Phase == v1.PodFailed {
		delete(twin, p.UID)
		return
	}
	old, known := twin[p.UID]
	if known {
		p.Bound = old.Bound
	}
	if p.Seen = now; known && p.Node == old.Node && p.tolerations == old.tolerations {
		p.Seen = old.Seen
	}
	twin[p.UID] = p
}

func checkTold(t *rapid.T, before, after map[types.UID]*entry, told map[types.UID]bool) {
	for i := range 6 {
		uid := typesUID("u%d", i)
		old, was := before[uid]
		now, is := after[uid]
		want := was != is ||
			was && (old.Node != now.Node || old.Labels["app"] != now.Labels["app"] || old.tolerations != now.tolerations)
		if told[uid] != want {
			t.Fatalf("pod %s: told %t, want %t", uid, told[uid], want)
		}
	}
}

func compareWithTwin(t *rapid.T, table *pods, twin map[types.UID]*entry) {
	checkInvariants(t, table)
	if len(table.byUID) != len(twin) {
		t.Fatalf("%d pods, want %d", len(table.byUID), len(twin))
	}
	for uid, want := range twin {
		got := table.get(uid)
		if got == nil || !got.same(want) || !got.Bound.Equal(want.Bound) || !got.Seen.Equal(want.Seen) ||
			got.Key() != want.Key() {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}
