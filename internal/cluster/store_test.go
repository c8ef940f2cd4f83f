package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
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
	again := v1.Taint{Key: "old", TimeAdded: new(metav1.NewTime(start.Add(330 * time.Second)))} // it was removed in between
	inBothKindsOfList(t, func(t *testing.T, streamed bool) {
		s := newStores()
		for minute, step := range []struct {
			name   string
			listed bool
			taints []v1.Taint
			want   string // what was found in a list, and in which minute
		}{
			{"the first list", true, []v1.Taint{{Key: "old"}}, ""},
			{"a list after a gap", true, []v1.Taint{{Key: "old"}, {Key: "new"}}, "new@1"},
			{"an event with another taint", false, []v1.Taint{{Key: "old"}, {Key: "new"}, {Key: "third"}}, "new@1"},
			{"another list", true, []v1.Taint{{Key: "old"}, {Key: "new"}, {Key: "third"}}, "new@1"},
			{"an event without it", false, []v1.Taint{{Key: "old"}, {Key: "third"}}, ""},
			{"an event with it", false, []v1.Taint{{Key: "old"}, {Key: "third"}, {Key: "new"}}, ""},
			{"a list after a gap in which one was removed and set again", true, []v1.Taint{again}, "old@6"},
		} {
			node, got := aNode(step.taints...), ""
			node.ResourceVersion = strconv.Itoa(minute + 1)
			if step.listed {
				must(t, s.nodeStore.Replace(items(t, s.nodeStore, streamed, node), node.ResourceVersion))
			} else {
				must(t, s.nodeStore.Update(node))
			}
			n, _ := s.PodsOn("n")
			for _, history := range n.Taints {
				if at := history[0].Relisted; !at.IsZero() {
					got += fmt.Sprintf("%s@%.0f", history[0].Taint.Key, at.Sub(start).Minutes())
				}
			}
			if got != step.want {
				t.Errorf("%s: found %q, want %q", step.name, got, step.want)
			}
			time.Sleep(time.Minute)
		}
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
	if got := tierOf(s.Namespaces()); got != "tier prod" {
		t.Errorf("got %s", got)
	}
}
