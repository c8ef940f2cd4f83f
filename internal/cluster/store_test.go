package cluster

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// stores are the two stores of a watcher, filled by the test.
type stores struct {
	*Watcher
	podStore  *store[*v1.Pod, *entry]
	nodeStore *store[*v1.Node, *v1.Node]
	told      *record
}

func newStores() *stores {
	s := &stores{Watcher: Watch(nil, taint.Rules{}, nil)}
	s.told = &record{source: s.Watcher}
	s.handler(s.told)
	return s
}

func ignore() {}

// handler makes new stores that call this handler.
func (s *stores) handler(h Handler) {
	log := newWarnings(logr.Discard())
	s.podStore, s.nodeStore = newPodStore(s.pods, h, log, ignore), newNodeStore(s.nodes, h, log, ignore)
}

func (s *stores) wantTold(t *testing.T, what string, want ...string) {
	t.Helper()
	checkInvariants(t, s.pods)
	if got := s.told.take(); !slices.Equal(got, want) {
		t.Errorf("%s: told %q, want %q", what, got, want)
	}
}

// must fails the test if a store fails, which never happens: the reflector would only log it.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// items returns objects as a list delivers them: whole, or trimmed if it was streamed.
func items(t *testing.T, store cache.TransformingStore, streamed bool, objects ...any) []any {
	t.Helper()
	if !streamed {
		return objects
	}
	trimmed := make([]any, len(objects))
	for i, obj := range objects {
		var err error
		if trimmed[i], err = store.Transformer()(obj); err != nil {
			t.Fatal(err)
		}
	}
	return trimmed
}

func inBothKindsOfList(t *testing.T, test func(t *testing.T, streamed bool)) {
	t.Helper()
	for name, streamed := range map[string]bool{"plain": false, "streamed": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, streamed) })
		})
	}
}

func TestARelistTellsOnlyWhatHasChanged(t *testing.T) {
	named := func(uid, name string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.UID, p.Name = typesUID("%s", uid), name }
	}
	inBothKindsOfList(t, func(t *testing.T, streamed bool) {
		s := newStores()
		must(t, s.podStore.Replace(items(t, s.podStore, streamed,
			aPod(named("same", "a")), aPod(named("changed", "b")), aPod(named("gone", "c")), aPod(named("replaced", "d")),
			aPod(named("finished", "e"), inPhase(v1.PodSucceeded))), "1"))
		s.wantTold(t, "first list")

		must(t, s.podStore.Replace(items(t, s.podStore, streamed,
			aPod(named("same", "a")), aPod(named("changed", "b"), func(p *v1.Pod) { p.Spec.Tolerations = nil }),
			aPod(named("new", "d"))), "2"))
		s.wantTold(t, "relist", "pod changed for n: n", "pod gone for n: gone", "pod new for n: n", "pod replaced for n: gone")

		must(t, s.podStore.Replace(nil, "3"))
		s.wantTold(t, "empty list", "pod changed for n: gone", "pod new for n: gone", "pod same for n: gone")
	})
}

func TestARelistOfNodesTellsOnlyWhatHasChanged(t *testing.T) {
	node := func(name string, taints ...v1.Taint) *v1.Node {
		n := aNode(taints...)
		n.Name, n.UID = name, typesUID("%s1", name)
		return n
	}
	k := v1.Taint{Key: "k"}
	inBothKindsOfList(t, func(t *testing.T, streamed bool) {
		s := newStores()
		must(t, s.nodeStore.Replace(items(t, s.nodeStore, streamed, node("a", k), node("b"), node("c", k), node("d")), "1"))
		s.wantTold(t, "first list", "node a: a1 with 1", "node c: c1 with 1")
		must(t, s.nodeStore.Replace(items(t, s.nodeStore, streamed, node("a", k), node("b", k)), "2"))
		s.wantTold(t, "relist", "node b: b1 with 1", "node c: gone")
	})
}

func TestAfterAGapWhatIsNewCountsAsSeenNow(t *testing.T) {
	inBothKindsOfList(t, func(t *testing.T, streamed bool) {
		s := newStores()
		added := metav1.NewTime(start.Add(-time.Minute))
		old := aNode(v1.Taint{Key: "old", TimeAdded: &added})
		must(t, s.podStore.Replace(items(t, s.podStore, streamed, aPod()), "1"))
		must(t, s.nodeStore.Replace(items(t, s.nodeStore, streamed, old), "1"))

		time.Sleep(90 * time.Second)
		fresh := aPod(withUID("p2"), func(p *v1.Pod) { p.Name = "q" })
		both := aNode(v1.Taint{Key: "old", TimeAdded: &added}, v1.Taint{Key: "new", TimeAdded: &added})
		must(t, s.podStore.Replace(items(t, s.podStore, streamed, aPod(), fresh), "2"))
		must(t, s.nodeStore.Replace(items(t, s.nodeStore, streamed, both), "2"))

		now := time.Now()
		if p, _ := s.Pod("p1"); !p.Bound.Equal(start.Add(-time.Hour + time.Second)) {
			t.Errorf("a known pod counts as bound since %s", p.Bound)
		}
		if p, _ := s.Pod("p2"); !p.Bound.Equal(now) {
			t.Errorf("a new pod counts as bound since %s, want now", p.Bound)
		}
		n, _ := s.PodsOn("n")
		if since := n.Taints[0][0].Since; !since.Equal(added.Add(time.Second)) {
			t.Errorf("a known taint counts since %s", since)
		}
		if since := n.Taints[1][0].Since; !since.Equal(now) {
			t.Errorf("a new taint counts since %s, want now", since)
		}
	})
}

func TestWhatAListAfterAGapShowsIsFoundInItAsLongAsItStays(t *testing.T) {
	taints := func(keys ...string) (all []v1.Taint) {
		for _, key := range keys {
			all = append(all, v1.Taint{Key: key})
		}
		return all
	}
	inBothKindsOfList(t, func(t *testing.T, streamed bool) {
		s, version := newStores(), 0
		next := func(taints ...v1.Taint) *v1.Node {
			version++
			n := aNode(taints...)
			n.ResourceVersion = strconv.Itoa(version)
			return n
		}
		list := func(n *v1.Node) {
			must(t, s.nodeStore.Replace(items(t, s.nodeStore, streamed, n), n.ResourceVersion))
		}
		listed := func(keys ...string) { list(next(taints(keys...)...)) }
		watched := func(keys ...string) { must(t, s.nodeStore.Update(next(taints(keys...)...))) }
		found := func(when string, want map[string]time.Time) {
			t.Helper()
			n, _ := s.PodsOn("n")
			got := map[string]time.Time{}
			for _, history := range n.Taints {
				if at := history[0].Relisted; !at.IsZero() {
					got[history[0].Taint.Key] = at
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		listed("old")
		found("the first list", nil)
		time.Sleep(90 * time.Second)
		listed("old", "new")
		inList := map[string]time.Time{"new": time.Now()}
		found("after a gap", inList)
		time.Sleep(time.Second)
		watched("old", "new", "third")
		found("with another taint", inList)
		listed("old", "new", "third")
		found("another list", inList)
		watched("old", "third")
		found("it is gone", nil)
		watched("old", "third", "new")
		found("it is back", nil)
		time.Sleep(time.Minute)
		list(next(v1.Taint{Key: "old", TimeAdded: new(metav1.NewTime(time.Now().Add(-time.Second)))}))
		found("a gap in which it was removed and set again", map[string]time.Time{"old": time.Now()})
	})
}

// A late DELETED of a pod that was replaced must not remove its successor.
func TestADeletionIsOfAUIDAndNotOfAName(t *testing.T) {
	s := newStores()
	must(t, s.podStore.Add(aPod()))
	must(t, s.podStore.Add(aPod(withUID("p2"))))
	s.told.take()
	must(t, s.podStore.Delete(aPod()))
	s.wantTold(t, "the deletion of the predecessor")
	if p, _ := s.Pod("p2"); p == nil {
		t.Error("the successor is gone")
	}
}

func TestNothingThatAStoreIsFedPanics(t *testing.T) {
	s := newStores()
	s.Need(forNamespaces)
	relists := &s.namespaceWatch.relists
	relists.begin(t.Context())
	namespaces := &store[*v1.Namespace, *v1.Namespace]{
		"namespace", s.namespaces, newWarnings(logr.Discard()), relists.completed,
	}
	var noPod *v1.Pod
	var noNode *v1.Node
	var noNamespace *v1.Namespace
	for _, store := range []cache.TransformingStore{s.podStore, s.nodeStore, namespaces} {
		for _, junk := range []any{
			nil, 7, noPod, noNode, noNamespace, &v1.Pod{}, &v1.Service{}, cache.DeletedFinalStateUnknown{},
		} {
			must(t, store.Add(junk))
			must(t, store.Update(junk))
			must(t, store.Delete(junk))
			trimmed, err := store.Transformer()(junk)
			must(t, err)
			must(t, store.Replace([]any{junk, trimmed}, "1"))
		}
		must(t, store.Resync())
	}
	s.wantTold(t, "junk")
	must(t, namespaces.Replace([]any{nil, aNamespace("ns", "prod")}, "1"))
	if got := tierOf(s.Namespaces(), "ns"); got != "tier prod" {
		t.Errorf("got %s", got)
	}
}

// Readers run in parallel with the writer; the race detector checks them.
func TestReadersMayRunBesideTheWriter(t *testing.T) {
	s := newStores()
	done := make(chan struct{}, 1)
	go func() {
		defer func() { done <- struct{}{} }()
		for i := range 500 {
			must(t, s.podStore.Update(aPod(func(p *v1.Pod) { p.Generation = int64(i) })))
			must(t, s.nodeStore.Update(aNode(v1.Taint{Key: "k", Value: string(rune('a' + i%2))})))
		}
	}()
	for len(done) == 0 {
		if p, _ := s.Pod("p1"); p != nil && p.Key() != "ns/p" {
			t.Fatalf("got %+v", p)
		}
		s.PodsOn("n")
	}
}
