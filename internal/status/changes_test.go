package status_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/taint"
)

// viewer has what it was answered, put together as the page does it.
type viewer struct {
	server *status.Server
	has    status.Snapshot
}

// ask asks for what has changed, and returns the answer; nil if nothing has.
func (v *viewer) ask(t *testing.T) *status.Changes {
	t.Helper()
	path := "/api/v1/snapshot"
	if v.has.Tag != "" {
		path += "?since=" + v.has.Tag
	}
	answer := ask(v.server, path)
	if answer.Code == http.StatusNoContent && answer.Body.Len() == 0 && v.has.Tag != "" {
		return nil
	}
	var c status.Changes
	if err := json.Unmarshal(answer.Body.Bytes(), &c); err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	v.apply(&c)
	return &c
}

func (v *viewer) apply(c *status.Changes) {
	before := v.has
	if v.has = c.Snapshot; c.Kind == status.KindSnapshot {
		return
	}
	rows, nodes := map[string]status.Eviction{}, map[string]status.Node{}
	for _, list := range [][]status.Eviction{before.Evictions, c.Evictions} {
		put(rows, list, func(e status.Eviction) string { return e.UID })
	}
	for _, list := range [][]status.Node{before.Nodes, c.Nodes} {
		put(nodes, list, func(n status.Node) string { return n.Name })
	}
	for _, uid := range c.Gone {
		delete(rows, string(uid))
	}
	for _, name := range c.NodesGone {
		delete(nodes, name)
	}
	before.Evicted = append(before.Evicted, c.Evicted...)
	v.has.Kind, v.has.Evicted = status.KindSnapshot, before.Evicted
	v.has.Evictions = values(rows, func(a, b status.Eviction) int {
		return strings.Compare(a.Deadline.String()+a.UID, b.Deadline.String()+b.UID)
	})
	v.has.Nodes = values(nodes, func(a, b status.Node) int { return strings.Compare(a.Name, b.Name) })
}

func TestNobodyLooksWhileNobodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		v := viewer{server: w.server()}
		time.Sleep(time.Hour)
		if n := w.looks(); n != 0 {
			t.Errorf("looked %d times before anybody asked", n)
		}
		for range 10 {
			v.ask(t)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		if n := w.looks(); n != 10 {
			t.Errorf("looked %d times for ten requests", n)
		}
	})
}

func TestManyViewersShareALookASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		s := w.server()
		for range 50 {
			for _, path := range []string{"/api/v1/snapshot", "/api/v1/evictions?node=n1", "/api/v1/nodes", "/api/v1/snapshot?since=x"} {
				if answer := ask(s, path); answer.Code != http.StatusOK {
					t.Fatalf("%s: %d", path, answer.Code)
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
		if n := w.looks(); n != 10 {
			t.Errorf("looked %d times in ten seconds", n)
		}
	})
}

func TestASnapshotIsFollowedByWhatHasChangedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := view("d", "n", 90)
		w := &world{views: []eviction.View{view("a", "n", 60), view("b", "n", 70), d}}
		v := viewer{server: w.server()}
		first := v.ask(t)
		if first.Kind != status.KindSnapshot || len(first.Evictions) != 3 {
			t.Fatalf("at first: %+v", first)
		}
		w.set(func(w *world) { w.views = []eviction.View{view("c", "n", 80), d, view("b", "n", 75)} })
		time.Sleep(time.Second)
		c := v.ask(t)
		if c == nil || c.Kind != status.KindChanges || c.Since != first.Tag || c.Tag == first.Tag {
			t.Fatalf("then: %+v", c)
		}
		if len(c.Evictions) != 2 || c.Evictions[0].Pod != "b" || !c.Evictions[0].Deadline.Equal(at(75)) || c.Evictions[1].Pod != "c" || len(c.Gone) != 1 || c.Gone[0] != "uid-a" {
			t.Errorf("then: %+v", c)
		}
	})
}

func TestWhereNothingHasChangedTheAnswerIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: []eviction.View{delayed(view("a", "n", -60), eviction.Blocked, "no"), view("b", "n", 3600)}, nodes: nodesOf("n")}
		v := viewer{server: w.server()}
		v.ask(t)
		for range 60 {
			time.Sleep(time.Second)
			if c := v.ask(t); c != nil {
				t.Fatalf("got %+v", c)
			}
		}
	})
}

func TestAPodThatTheCacheReturnsAsAnotherObjectHasNotChanged(t *testing.T) {
	for what, change := range map[string]func(v *eviction.View){
		"":                  func(*eviction.View) {},
		"the owner":         func(v *eviction.View) { v.Pod.Controller = &taint.Owner{Kind: "Job", Name: "other"} },
		"the taint":         func(v *eviction.View) { v.Verdict.Taint = &v1.Taint{Key: "gpu", Value: "other", Effect: gpu.Effect} },
		"the toleration":    func(v *eviction.View) { v.Verdict.Toleration.Key = "other" },
		"no toleration":     func(v *eviction.View) { v.Verdict.Toleration = nil },
		"the deadline":      func(v *eviction.View) { v.Verdict.At = at(61) },
		"what it waits for": func(v *eviction.View) { v.Waits.Cause = eviction.WaitsForTurn },
	} {
		synctest.Test(t, func(t *testing.T) {
			object := func() eviction.View {
				v, copied := view("a", "n", 60), *gpu
				v.Verdict.Taint, v.Held.Verdict.Taint = &copied, &copied
				return v
			}
			w := &world{views: []eviction.View{object()}}
			v := viewer{server: w.server()}
			v.ask(t)
			again := object()
			change(&again)
			w.set(func(w *world) { w.views = []eviction.View{again} })
			time.Sleep(time.Second)
			if c := v.ask(t); (c == nil) != (what == "") || c != nil && len(c.Evictions) != 1 {
				t.Errorf("what has changed is %q, and the answer %+v", what, c)
			}
		})
	}
}

func TestWhoseSnapshotIsTooOldGetsAWholeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		s := w.server()
		v, other := viewer{server: s}, viewer{server: s}
		v.ask(t)
		for i := range 200 {
			w.set(func(w *world) { w.views = append(loadOf(3), view(fmt.Sprint("new", i), "n", 500)) })
			other.ask(t)
			time.Sleep(time.Second)
		}
		if c := v.ask(t); c == nil || c.Kind != status.KindSnapshot {
			t.Errorf("after 200 changes: %+v", c)
		}
		time.Sleep(time.Minute)
		if c := v.ask(t); c == nil || c.Kind != status.KindSnapshot {
			t.Errorf("after a minute without a request: %+v", c)
		}
	})
}

func TestATagOfAnotherProcessGetsASnapshot(t *testing.T) {
	v := viewer{server: (&world{}).server()}
	first := v.ask(t).Tag
	boot, _, _ := strings.Cut(first, "-")
	for _, tag := range []string{"OTHERONE-1-0", "x", "-1", boot, boot + "-1", boot + "-2-0", boot + "-0-0", boot + "-1-1", boot + "--1-0", strings.ToLower(first)} {
		v.has.Tag = tag
		if c := v.ask(t); c == nil || c.Kind != status.KindSnapshot {
			t.Errorf("%s: %+v", tag, c)
		}
	}
}

func TestAFailedLookIsRefusedAndNothingIsMissingAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		v := viewer{server: w.server()}
		v.ask(t)
		w.set(func(w *world) { w.away = true })
		time.Sleep(time.Second)
		if answer := ask(v.server, "/api/v1/snapshot?since="+v.has.Tag); answer.Code != http.StatusServiceUnavailable {
			t.Errorf("while it fails: %d %s", answer.Code, answer.Body)
		}
		w.set(func(w *world) { w.away, w.views = false, append(w.views, view("new", "n", 500)) })
		if c := v.ask(t); c == nil || len(c.Evictions) != 1 || c.Kind != status.KindChanges {
			t.Errorf("then: %+v", c)
		}
	})
}

func TestLooksTakeAFiftiethOfTheTimeAtMost(t *testing.T) {
	for takes, want := range map[time.Duration]int{0: 50, 100 * time.Millisecond: 10, time.Second: 5} { // never less than one in ten seconds
		synctest.Test(t, func(t *testing.T) {
			w := &slow{world: &world{views: loadOf(3)}, takes: takes}
			v := viewer{server: status.New(status.Options{Source: w, History: &w.history, Manager: w.about})}
			for began := time.Now(); time.Since(began) < 50*time.Second; time.Sleep(100 * time.Millisecond) {
				v.ask(t)
			}
			if n := w.looks(); n != want {
				t.Errorf("%d looks of %s in 50 s, want %d", n, takes, want)
			}
		})
	}
}

// slow is a source that takes its time.
type slow struct {
	*world
	takes time.Duration
}

func (s *slow) Earliest(ctx context.Context, most int) ([]eviction.View, int, error) {
	time.Sleep(s.takes)
	return s.world.Earliest(ctx, most)
}

// TestWhatAViewerHasIsWhatASnapshotSays plays random worlds: viewers that apply every change must have what a snapshot
// shows, however often they ask.
func TestWhatAViewerHasIsWhatASnapshotSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{}
			s := w.server()
			viewers := []*viewer{{server: s}, {server: s}, {server: s}}
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				shuffle(rt, w)
				time.Sleep(time.Second)
				for _, v := range viewers {
					if rapid.Bool().Draw(rt, "asks") {
						v.ask(t)
						compareWithSnapshot(t, rt, v)
					}
				}
			}
		})
	})
}

func compareWithSnapshot(t *testing.T, rt *rapid.T, v *viewer) {
	t.Helper()
	var want status.Snapshot
	get(t, v.server, "/api/v1/snapshot", &want)
	v.has.At = want.At // of an answer without changes
	if diff := cmp.Diff(want, v.has); diff != "" {
		rt.Fatalf("a snapshot (-) and what a viewer has (+):\n%s", diff)
	}
}

// shuffle changes the world at random.
func shuffle(t *rapid.T, w *world) {
	w.set(func(w *world) {
		w.views, w.nodes = nil, nil
		for i := range 4 {
			name := fmt.Sprint(i)
			v := view("p"+name, "n"+name, float64(rapid.IntRange(10, 12).Draw(t, "deadline")))
			switch rapid.SampledFrom([]string{"gone", "there", "blocked"}).Draw(t, "pod") {
			case "there":
				w.views = append(w.views, v)
			case "blocked":
				w.views = append(w.views, delayed(v, eviction.Blocked, "no"))
			}
			if rapid.Bool().Draw(t, "tainted") {
				w.nodes = append(w.nodes, node("n"+name, float64(rapid.IntRange(0, 1).Draw(t, "since"))))
			}
		}
		w.trouble = nil
		if rapid.Bool().Draw(t, "trouble") {
			w.trouble = fmt.Errorf("no watch")
		}
		w.warning = rapid.SampledFrom([]string{"", "look"}).Draw(t, "warning")
		w.manager = status.Manager{}
		if rapid.Bool().Draw(t, "standby") {
			w.manager = status.Manager{Identity: "me", Role: status.Standby, Leader: "other"}
		}
	})
	for range rapid.IntRange(0, 2).Draw(t, "evicted") {
		w.history.Ended(evicted("gone", 1), eviction.Outcome{Kind: eviction.Accepted}, time.Now())
	}
}

func put[K comparable, V any](into map[K]V, list []V, key func(V) K) {
	for _, v := range list {
		into[key(v)] = v
	}
}

// values returns those of a map, in order; never nil.
func values[K comparable, V any](m map[K]V, compare func(a, b V) int) []V {
	list := slices.SortedFunc(maps.Values(m), compare)
	if list == nil {
		list = []V{}
	}
	return list
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
