package status_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/status"
)

// watcher is a viewer in memory that reads what it is sent, unless it sleeps.
type watcher struct {
	httptest.ResponseRecorder
	mu     sync.Mutex
	text   strings.Builder
	asleep chan struct{} // reads nothing until it is closed; nil: reads all
	leave  context.CancelFunc
	over   chan struct{}
}

func (w *watcher) Write(p []byte) (int, error) {
	if w.asleep != nil {
		<-w.asleep
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}
func (w *watcher) SetWriteDeadline(time.Time) error { return nil }
func (w *watcher) Flush()                           {}

// watch opens a stream in the test's bubble. It ends with leave.
func watch(t *testing.T, s *status.Server, lastID string) *watcher {
	return watchAs(t, s, lastID, &watcher{})
}

func watchAs(t *testing.T, s *status.Server, lastID string, v *watcher, edits ...func(*http.Request)) *watcher {
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequest(http.MethodGet, "/api/v1/events", nil).WithContext(ctx)
	r.Host = "localhost"
	r.Header.Set("Last-Event-ID", lastID)
	for _, edit := range edits {
		edit(r)
	}
	v.ResponseRecorder, v.over = *httptest.NewRecorder(), make(chan struct{})
	v.leave = func() { cancel(); <-v.over }
	go func() { defer close(v.over); s.ServeHTTP(v, r) }()
	synctest.Wait()
	return v
}

// tick is the time between two looks.
const tick = time.Second

// sent is one event as it was sent.
type sent struct{ name, id, data string }

// read takes what has been sent since the last time.
func (w *watcher) read() (events []sent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for block := range strings.SplitSeq(w.text.String(), "\n\n") {
		var e sent
		for line := range strings.Lines(block) {
			field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch field {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			}
		}
		if e.name != "" {
			events = append(events, e)
		}
	}
	w.text.Reset()
	return events
}

func names(events []sent) (list []string) {
	for _, e := range events {
		list = append(list, e.name)
	}
	return list
}

func TestNobodyLooksWhileNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		s := w.server()
		time.Sleep(time.Hour)
		if n := w.looks(); n != 0 {
			t.Errorf("looked %d times before anybody came", n)
		}
		v := watch(t, s, "")
		time.Sleep(10*time.Second + time.Millisecond)
		if n := w.looks(); n != 11 {
			t.Errorf("looked %d times in ten seconds, want once a second", n)
		}
		v.leave()
		synctest.Wait()
		time.Sleep(time.Hour)
		if n := w.looks(); n != 11 {
			t.Errorf("looked %d times after the last one had left", n-11)
		}
	})
}

func TestManyViewersShareTheLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		s := w.server()
		var all []*watcher
		for range 32 {
			all = append(all, watch(t, s, ""))
		}
		time.Sleep(10*time.Second + time.Millisecond)
		if n := w.looks(); n != 11 {
			t.Errorf("looked %d times", n)
		}
		if late := ask(s, "/api/v1/events"); late.Code != http.StatusServiceUnavailable || !strings.Contains(late.Body.String(), "32 viewers watch already") {
			t.Errorf("the 33rd: %d %s", late.Code, late.Body)
		}
		for _, v := range all {
			if got := names(v.read()); len(got) == 0 || got[0] != "snapshot" {
				t.Errorf("got %v", got)
			}
			v.leave()
		}
	})
}

func TestAStreamBeginsWithASnapshotAndGoesOnWithWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: []eviction.View{view("a", "n", 60), view("b", "n", 70)}}
		v := watch(t, w.server(), "")
		defer v.leave()
		first := v.read()
		if diff := cmp.Diff([]string{"snapshot"}, names(first)); diff != "" || first[0].id == "" {
			t.Fatalf("%s %+v", diff, first)
		}
		w.set(func(w *world) { w.views = []eviction.View{view("b", "n", 75), view("c", "n", 80)} })
		time.Sleep(time.Second)
		synctest.Wait()
		next := v.read()
		if len(next) != 1 || next[0].name != "change" || next[0].id == first[0].id {
			t.Fatalf("got %+v", next)
		}
		var c status.Change
		must(t, json.Unmarshal([]byte(next[0].data), &c))
		if len(c.Evictions) != 2 || c.Evictions[0].Pod != "b" || !c.Evictions[0].Deadline.Equal(at(75)) || c.Evictions[1].Pod != "c" || c.Gone[0] != "uid-a" || c.Manager != nil {
			t.Errorf("got %s", next[0].data)
		}
	})
}

func TestAStreamWithoutNewsBeatsEveryFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := watch(t, (&world{views: loadOf(2)}).server(), "")
		defer v.leave()
		id := v.read()[0].id
		time.Sleep(20*time.Second + time.Millisecond)
		beats := v.read()
		if len(beats) < 3 || len(beats) > 5 {
			t.Errorf("%d in 20 s", len(beats))
		}
		for _, b := range beats {
			if b.id != id || strings.Contains(b.data, "evictions\":") {
				t.Errorf("got %+v", b)
			}
		}
	})
}

func TestAChangeOfLeaderIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		v := watch(t, w.server(), "")
		defer v.leave()
		w.set(func(w *world) { w.manager = status.Manager{Identity: "me", Role: status.Standby, Leader: "other"} })
		time.Sleep(time.Second)
		synctest.Wait()
		events := v.read()
		if last := events[len(events)-1].data; !strings.Contains(last, `"role":"standby","leader":"other"`) {
			t.Errorf("got %s", last)
		}
	})
}

func TestABrokenStreamGoesOnWhereItBroke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		s := w.server()
		stays := watch(t, s, "")
		time.Sleep(tick / 2)
		v := watch(t, s, "")
		id := v.read()[0].id
		v.leave()
		for i := range 3 {
			w.set(func(w *world) { w.views = append(w.views, view(fmt.Sprint("new", i), "n", 500)) })
			time.Sleep(time.Second)
		}
		synctest.Wait()
		v = watch(t, s, id)
		if diff := cmp.Diff([]string{"change", "change", "change"}, names(v.read())); diff != "" {
			t.Error(diff)
		}
		v.leave()
		stays.leave()
		// The last one has left: what it has can be gone on from for a while.
		id = last(stays.read()).id
		time.Sleep(20 * time.Second)
		v = watch(t, s, id)
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		if got := names(v.read()); len(got) != 1 || got[0] != "change" {
			t.Errorf("after 20 s: %v", got)
		}
		v.leave()
		time.Sleep(time.Minute)
		v = watch(t, s, id)
		if got := names(v.read()); got[0] != "snapshot" {
			t.Errorf("after a minute: %v", got)
		}
		v.leave()
	})
}

func last(events []sent) sent { return events[len(events)-1] }

func TestAnIDOfAnotherProcessGetsASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, id := range []string{"OTHERONE-0", "x", "-1"} {
			v := watch(t, (&world{}).server(), id)
			if got := names(v.read()); len(got) != 1 || got[0] != "snapshot" {
				t.Errorf("%s: %v", id, got)
			}
			v.leave()
		}
	})
}

func TestALargeSnapshotComesInPiecesAndItsIDWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := watch(t, (&world{views: loadOf(1234)}).server(), "")
		defer v.leave()
		events := v.read()
		if diff := cmp.Diff([]string{"snapshot", "rows", "rows"}, names(events)); diff != "" {
			t.Fatal(diff)
		}
		n := 0
		for i, e := range events {
			var rows status.Rows
			must(t, json.Unmarshal([]byte(e.data), &rows))
			n += len(rows.Evictions)
			if final := i == 2; rows.More == final || (e.id != "") != final {
				t.Errorf("piece %d: more %t, id %q", i, rows.More, e.id)
			}
		}
		if n != 1234 {
			t.Errorf("%d evictions", n)
		}
	})
}

func TestAViewerThatDoesNotReadIsDroppedAndTheOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: loadOf(3)}
		s := w.server()
		good := watch(t, s, "")
		defer good.leave()
		time.Sleep(tick / 2)
		bad := watchAs(t, s, "", &watcher{asleep: make(chan struct{})})
		for i := range 60 {
			w.set(func(w *world) { w.views = append(w.views, view(fmt.Sprint("new", i), "n", 500)) })
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n := len(good.read()); n != 61 {
			t.Errorf("the other one got %d messages", n)
		}
		close(bad.asleep)
		synctest.Wait()
		select {
		case <-bad.over:
		default:
			t.Error("it still watches")
			bad.leave()
		}
	})
}

func TestLooksTakeAFiftiethOfTheTimeAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slow{world: &world{views: loadOf(3)}, takes: 100 * time.Millisecond}
		s := status.New(status.Options{Source: w, Health: w, History: &w.history, Role: w.role})
		v := watch(t, s, "")
		time.Sleep(50 * time.Second)
		v.leave()
		time.Sleep(time.Second) // for the look under way
		if n := w.looks(); n != 10 {
			t.Errorf("%d looks of 100 ms in 50 s", n)
		}
	})
}

// slow is a source that takes its time.
type slow struct {
	*world
	takes time.Duration
}

func (s *slow) Views(ctx context.Context) ([]eviction.View, error) {
	time.Sleep(s.takes)
	return s.world.Views(ctx)
}

// TestWhatAViewerHasIsWhatASnapshotSays plays random worlds: a viewer that applies every change must
// have what a snapshot of the end shows.
func TestWhatAViewerHasIsWhatASnapshotSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{}
			s := w.server()
			v := watch(t, s, "")
			defer v.leave()
			time.Sleep(tick / 2)
			for range rapid.IntRange(1, 8).Draw(rt, "steps") {
				shuffle(rt, w)
				time.Sleep(tick)
			}
			synctest.Wait()
			var want status.Snapshot
			get(t, s, "/api/v1/snapshot", &want)
			got := replay(t, v.read())
			want.At = got.At
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("a snapshot (-) and what a viewer has (+):\n%s", diff)
			}
		})
	})
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
				w.views = append(w.views, delayed(v, eviction.Blocked, "pdb", "no"))
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
	})
	for range rapid.IntRange(0, 2).Draw(t, "evicted") {
		w.history.Ended(evicted("gone", 1), eviction.Outcome{Kind: eviction.Accepted}, time.Now())
	}
}

// replay returns what a viewer makes of a stream.
func replay(t *testing.T, events []sent) (s status.Snapshot) {
	t.Helper()
	rows, nodes, minutes := map[string]status.Eviction{}, map[string]status.Node{}, map[time.Time]status.Minute{}
	for _, e := range events {
		var c status.Change
		text := []byte(e.data)
		must(t, json.Unmarshal(text, &c))
		if e.name == "snapshot" {
			must(t, json.Unmarshal(text, &s))
			s.Evicted = nil
		}
		for _, uid := range c.Gone {
			delete(rows, uid)
		}
		for _, name := range c.NodesGone {
			delete(nodes, name)
		}
		put(rows, c.Evictions, func(e status.Eviction) string { return e.UID })
		put(nodes, c.Nodes, func(n status.Node) string { return n.Name })
		put(minutes, c.Minutes, func(m status.Minute) time.Time { return m.Start })
		s.Evicted = append(s.Evicted, c.Evicted...)
		s.At, s.Totals = c.At, c.Totals
		if c.Manager != nil {
			s.Manager = *c.Manager
		}
	}
	s.Evictions = values(rows, func(a, b status.Eviction) int {
		return strings.Compare(a.Deadline.String()+a.UID, b.Deadline.String()+b.UID)
	})
	s.Nodes = values(nodes, func(a, b status.Node) int { return strings.Compare(a.Name, b.Name) })
	s.Minutes = values(minutes, func(a, b status.Minute) int { return a.Start.Compare(b.Start) })
	if s.Evicted == nil {
		s.Evicted = []status.Evicted{}
	}
	return s
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
