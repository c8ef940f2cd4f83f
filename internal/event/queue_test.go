package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/taint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSink keeps what it takes, and when; it answers by a function, by the number of the attempt in a namespace.
type fakeSink struct {
	answer func(ctx context.Context, n int) error
	quick  func(namespace string) bool // whether it takes the events of a namespace in 5 ms instead

	mu       sync.Mutex
	attempts map[string]int // by namespace
	running  int
	most     int
	stored   []*v1.Event
	at       []time.Time // of each of stored
}

func (f *fakeSink) Create(ctx context.Context, event *v1.Event) error {
	answer := f.answer
	if f.quick != nil && f.quick(event.Namespace) {
		answer = slow(5 * time.Millisecond)
	}
	f.mu.Lock()
	n := f.attempts[event.Namespace]
	if f.attempts == nil {
		f.attempts = map[string]int{}
	}
	f.attempts[event.Namespace]++
	f.running++
	f.most = max(f.most, f.running)
	f.mu.Unlock()
	var err error
	if answer != nil {
		err = answer(ctx, n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	if err == nil {
		f.stored, f.at = append(f.stored, event), append(f.at, time.Now())
	}
	return err
}

// messages returns what is stored, sorted.
func (f *fakeSink) messages() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, event := range f.stored {
		all = append(all, event.Message)
	}
	slices.Sort(all)
	return all
}

func slow(d time.Duration) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
}

func note(i int) eviction.Note { return noteIn("shop", i) }

func noteIn(namespace string, i int) eviction.Note {
	n := marking()
	n.Pod.Namespace, n.Pod.Name = namespace, fmt.Sprintf("web-%d", i)
	return n
}

func always() bool { return true }

func never() bool { return false }

// start runs a queue, which leads unless the options say when it does, as evictions need no places; end ends its context
// and waits for Run to return.
func start(t *testing.T, o Options) (q *Queue, end func()) {
	t.Helper()
	if o.Leading == nil {
		o.Leading = always
	}
	if o.Busy == nil {
		o.Busy = never
	}
	q = New(o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { q.Run(ctx); close(ended) }()
	return q, sync.OnceFunc(func() { cancel(); <-ended })
}

func (q *Queue) droppedBy(reason string) int {
	return int(testutil.ToFloat64(q.drops.WithLabelValues(reason)))
}

func (q *Queue) writtenCount() int { return int(testutil.ToFloat64(q.written)) }

func TestEachNamespaceHasTwoWritersOfSixteen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: slow(time.Millisecond)}
		q, end := start(t, Options{Sink: sink.Create})
		defer end()
		begin := time.Now()
		for i := range 3000 {
			q.Put(note(i))
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("Put took %v", waited)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if sink.most != maxInNamespace || len(sink.stored) != 3000 || q.writtenCount() != 3000 {
			t.Errorf("%d stored, %d at once, metric %d, want 3000, two at once", len(sink.stored), sink.most, q.writtenCount())
		}
		names := map[string]bool{}
		for _, event := range sink.stored {
			names[event.Name] = true
		}
		if len(names) != 3000 {
			t.Errorf("%d names for 3000 events of one moment", len(names))
		}
		for i := range 100 {
			q.Put(noteIn(fmt.Sprint("team-", i), 0))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if sink.most != maxWrites || len(sink.stored) != 3100 {
			t.Errorf("of a hundred namespaces %d stored, %d at once, want %d", len(sink.stored)-3000, sink.most, maxWrites)
		}
	})
}

func TestOnlyTheLeaderSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		leads := false
		q, end := start(t, Options{Sink: sink.Create, Leading: func() bool { return leads }})
		defer end()
		q.Put(note(1))
		leads = true
		q.Put(note(2))
		synctest.Wait()
		dropped := 0
		for _, reason := range []string{droppedFull, droppedFailed, droppedTimeout, droppedRefused, droppedShutdown} {
			dropped += q.droppedBy(reason)
		}
		if len(sink.stored) != 1 || sink.stored[0].InvolvedObject.Name != "web-2" || dropped != 0 {
			t.Errorf("stored %v, want that of the leader only, and nothing counted as dropped", sink.messages())
		}
	})
}

func TestAFailedWriteIsTriedOnceMore(t *testing.T) {
	gone, hangs := errors.New("connection refused"), errors.New("no answer")
	events := schema.GroupResource{Resource: "events"}
	tests := []struct {
		name     string
		answers  []error
		attempts int
		dropped  string // reason; empty when written
	}{
		{"fails once", []error{gone, nil}, 2, ""},
		{"fails twice", []error{gone, gone}, 2, droppedFailed},
		{"was written, and the answer was lost", []error{gone, apierrors.NewAlreadyExists(events, "e")}, 2, ""},
		{"not permitted", []error{apierrors.NewForbidden(events, "e", nil)}, 1, droppedRefused},
		{"no such namespace", []error{apierrors.NewNotFound(events, "e")}, 1, droppedRefused},
		{"refused at the second try", []error{gone, apierrors.NewForbidden(events, "e", nil)}, 2, droppedRefused},
		{"loaded server", []error{apierrors.NewTooManyRequests("later", 4), nil}, 2, ""},
		{"failing server", []error{apierrors.NewInternalError(gone), nil}, 2, ""},
		{"hangs once", []error{hangs, nil}, 2, ""},
		{"hangs twice", []error{hangs, hangs}, 2, droppedTimeout},
		{"timeouts of the API server", []error{apierrors.NewTimeoutError("request did not complete", 1), hangs}, 2, droppedTimeout},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := &fakeSink{answer: func(ctx context.Context, n int) error {
					if errors.Is(test.answers[n], hangs) {
						return hang(ctx, n)
					}
					return test.answers[n]
				}}
				q, end := start(t, Options{Sink: sink.Create})
				defer end()
				q.Put(note(1))
				time.Sleep(2*writeTimeout + failureTime)
				synctest.Wait()
				if sink.attempts["shop"] != test.attempts {
					t.Errorf("%d attempts, want %d", sink.attempts["shop"], test.attempts)
				}
				if test.dropped == "" && q.writtenCount() != 1 {
					t.Error("not counted as written")
				}
				if test.dropped != "" && (q.droppedBy(test.dropped) != 1 || q.writtenCount() != 0) {
					t.Errorf("not counted as dropped because %s", test.dropped)
				}
			})
		})
	}
}

func TestTheQueueIsFlushedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: slow(10 * time.Millisecond)}
		q, end := start(t, Options{Sink: sink.Create})
		for i := range 100 {
			q.Put(note(i))
		}
		begin := time.Now()
		end()
		if took := time.Since(begin); took != time.Second/2 || len(sink.stored) != 100 {
			t.Errorf("%d stored after %v, want 100 after half a second", len(sink.stored), took)
		}
		q.Put(note(1))
		if q.droppedBy(droppedShutdown) != 1 {
			t.Error("a note put after the end is not counted as dropped")
		}
	})
}

func TestTheFlushIsBoundedAndCountsWhatItDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: slow(time.Second)}
		q, end := start(t, Options{Sink: sink.Create})
		for i := range 100 {
			q.Put(note(i))
		}
		begin := time.Now()
		end()
		if took := time.Since(begin); took != flushTime {
			t.Errorf("flushed for %v, want %v", took, flushTime)
		}
		if q.writtenCount()+q.droppedBy(droppedShutdown) != 100 || q.writtenCount() < 4 {
			t.Errorf("%d written, %d dropped, want 100 in all", q.writtenCount(), q.droppedBy(droppedShutdown))
		}
	})
}

func TestOnlyBreakersReportWhileEvictionsWaitForPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Bool
		busy.Store(true)
		sink := &fakeSink{answer: slow(time.Millisecond)}
		q, end := start(t, Options{Sink: sink.Create, Busy: busy.Load})
		defer end()
		for i := range 400 {
			q.Put(note(i))
		}
		trip := breaker.Event{Tripped: true, Names: []string{"n2"}}
		q.PutDrained("n1")
		q.PutTrip(trip)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := sink.messages(); !slices.Equal(got, []string{tripMessage(&trip)}) {
			t.Errorf("%d events are written while evictions wait, want only the breaker's: %q", len(got), got)
		}
		busy.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(sink.messages()); n != 402 {
			t.Errorf("%d written a second later, want all 402", n)
		}
	})
}

func TestNoEventWaitsForEvictionsForMoreThanHalfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: slow(time.Millisecond)}
		q, end := start(t, Options{Sink: sink.Create, Busy: always})
		defer end()
		for i := range 400 {
			q.Put(note(i))
		}
		time.Sleep(longestHold - time.Millisecond)
		synctest.Wait()
		if n := len(sink.messages()); n != 0 {
			t.Errorf("%d are written within %v", n, longestHold)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(sink.messages()); n != 400 {
			t.Errorf("%d written after %v, want 400", n, longestHold)
		}
		if sink.most != 1 {
			t.Errorf("%d at once, want one of a namespace while evictions wait", sink.most)
		}
	})
}

// marking returns the note used where its content does not matter.
func marking() eviction.Note {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return eviction.Note{
		Kind: eviction.EvictionStarted,
		Pod:  &taint.Pod{UID: "6d9f", Namespace: "shop", Name: "web-0", Node: "n1"},
		Verdict: taint.Verdict{
			Evict: true, At: at, Start: at, Node: "n1",
			Taint: &v1.Taint{Key: "maintenance", Effect: v1.TaintEffectNoExecute},
		},
	}
}
