package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

// admission answers the events of namespaces that begin with "hostile", by the number of the attempt there; it takes those
// of others in 5 ms. It keeps the times of all attempts since it was made.
type admission struct {
	born   time.Time
	answer func(ctx context.Context, n int) error

	mu       sync.Mutex
	attempts map[string][]time.Duration // by namespace
	stored   map[string][]time.Duration
	running  int
	most     int
}

func newAdmission(answer func(context.Context, int) error) *admission {
	return &admission{
		born: time.Now(), answer: answer, attempts: map[string][]time.Duration{}, stored: map[string][]time.Duration{},
	}
}

func (a *admission) Create(ctx context.Context, event *v1.Event) error {
	name, answer := event.Namespace, slow(5*time.Millisecond)
	if strings.HasPrefix(name, "hostile") {
		answer = a.answer
	}
	a.mu.Lock()
	n := len(a.attempts[name])
	a.attempts[name] = append(a.attempts[name], time.Since(a.born))
	a.running++
	a.most = max(a.most, a.running)
	a.mu.Unlock()
	err := answer(ctx, n)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running--
	if err == nil {
		a.stored[name] = append(a.stored[name], time.Since(a.born))
	}
	return err
}

func (a *admission) storedIn(namespace string) []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.stored[namespace])
}

func (a *admission) attemptsIn(namespace string) []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.attempts[namespace])
}

func hang(ctx context.Context, _ int) error {
	<-ctx.Done()
	return ctx.Err()
}

// after returns an answer that comes when the time has passed.
func after(d time.Duration, err error) func(context.Context, int) error {
	return func(ctx context.Context, n int) error {
		if cut := slow(d)(ctx, n); cut != nil {
			return cut
		}
		return err
	}
}

// Whatever admission does to the events of one namespace: those of another, of which one comes every 100 ms and fifty at
// the begin, are written within a second.
func TestOneNamespaceDelaysOthersByASecondAtMost(t *testing.T) {
	events := schema.GroupResource{Resource: "events"}
	tests := []struct {
		name   string
		answer func(context.Context, int) error
	}{
		{"hangs", hang},
		{"hangs after quick answers", func(ctx context.Context, n int) error {
			if n < 20 {
				return slow(5*time.Millisecond)(ctx, n)
			}
			return hang(ctx, n)
		}},
		{"hangs every third time", func(ctx context.Context, n int) error {
			if n%3 > 0 {
				return nil
			}
			return hang(ctx, n)
		}},
		{"fails after a second, as a webhook that hangs", after(time.Second, apierrors.NewInternalError(errors.New("failed calling webhook")))},
		{"fails at once, as a webhook that is away", after(0, apierrors.NewInternalError(errors.New("failed calling webhook")))},
		{"asks for 10 s", after(0, apierrors.NewTooManyRequests("later", 10))},
		{"refuses after 3 s", after(3*time.Second, apierrors.NewForbidden(events, "e", nil))},
		{"takes 3 s", after(3*time.Second, nil)},
		{"takes 400 ms", after(400*time.Millisecond, nil)},
	}
	for _, test := range tests {
		for _, first := range []string{"hostile", "shop"} {
			t.Run(test.name+", first "+first, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sink := newAdmission(test.answer)
					q, end := start(t, Options{Sink: sink})
					defer end()
					put := map[string]int{"hostile": 200, "shop": 50}
					for _, name := range []string{first, "shop", "hostile"} {
						for i := range put[name] {
							q.Put(noteIn(name, i))
						}
						put[name] = 0
						synctest.Wait()
					}
					for i := range 300 {
						time.Sleep(100 * time.Millisecond)
						q.Put(noteIn("shop", 50+i))
					}
					time.Sleep(time.Second)
					checkDelays(t, sink.storedIn("shop"), 350, func(i int) time.Duration {
						return max(0, time.Duration(i-49)*100*time.Millisecond)
					})
				})
			})
		}
	}
}

// checkDelays checks that the number of events are stored, each within a second of when it was put.
func checkDelays(t *testing.T, stored []time.Duration, number int, put func(i int) time.Duration) {
	t.Helper()
	if len(stored) != number {
		t.Fatalf("%d events of others are stored, want %d", len(stored), number)
	}
	worst := time.Duration(0)
	for i, at := range stored {
		worst = max(worst, at-put(i))
	}
	t.Logf("events of the other namespace are delayed by %v at most", worst)
	if worst > time.Second {
		t.Errorf("an event of another namespace is delayed by %v", worst)
	}
}

func TestANamespaceWhoseWritesFailWaitsUpToAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newAdmission(hang)
		q, end := start(t, Options{Sink: sink})
		defer end()
		for i := range 200 {
			q.Put(noteIn("hostile", i))
		}
		time.Sleep(240 * time.Second)
		// Each takes 4 s; then the namespace waits for 1, 2, 4, 8, 16, 32, 60, 60 s.
		var want []time.Duration
		for _, s := range []int{0, 5, 11, 19, 31, 51, 87, 151, 215} {
			want = append(want, time.Duration(s)*time.Second)
		}
		if got := sink.attemptsIn("hostile"); !slices.Equal(got, want) {
			t.Errorf("attempts at %v, want %v", got, want)
		}
		if got := q.droppedBy(droppedTimeout); got != 4 {
			t.Errorf("%d dropped because of timeouts, want 4", got)
		}
	})
}

// A namespace whose writes succeed again waits no longer, and is forgotten when it has no notes.
func TestANamespaceThatAnswersAgainDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newAdmission(func(ctx context.Context, n int) error {
			if n < 2 {
				return hang(ctx, n)
			}
			return nil
		})
		q, end := start(t, Options{Sink: sink})
		defer end()
		for i := range 100 {
			q.Put(noteIn("hostile", i))
		}
		time.Sleep(2*writeTimeout + 3*minWait)
		synctest.Wait()
		if got := len(sink.storedIn("hostile")); got != 99 || len(q.lines) != 0 {
			t.Errorf("%d stored, and %d namespaces are kept, want 99 and none", got, len(q.lines))
		}
	})
}

// Of n namespaces that hang, each holds one of 16 places for 4 s before it waits: a turn of all takes n/4 seconds.
func TestManyHangingNamespacesDelayOthersByTheirNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const number = 40
		sink := newAdmission(hang)
		q, end := start(t, Options{Sink: sink})
		defer end()
		for i := range 200 {
			for k := range number {
				q.Put(noteIn(fmt.Sprintf("hostile-%d", k), i))
			}
		}
		const turn = number * writeTimeout / maxWrites
		for range 10 {
			q.Put(noteIn("shop", 0))
			time.Sleep(turn + 100*time.Millisecond)
		}
		if got := len(sink.storedIn("shop")); got != 10 {
			t.Errorf("%d events of another namespace are stored, want 10, each within %v", got, turn)
		}
		time.Sleep(5 * time.Minute)
		var delays []time.Duration
		for i := range 120 {
			put, before := time.Since(sink.born), len(sink.storedIn("shop"))
			q.Put(noteIn("shop", i))
			time.Sleep(turn)
			delays = append(delays, sink.storedIn("shop")[before]-put)
		}
		slices.Sort(delays)
		t.Logf("after five minutes the median is delayed by %v, one in ten by %v", delays[60], delays[108])
		if delays[60] > 100*time.Millisecond || delays[108] > writeTimeout {
			t.Errorf("after five minutes the median is delayed by %v, one in ten by %v", delays[60], delays[108])
		}
		sink.mu.Lock()
		defer sink.mu.Unlock()
		if sink.most > maxWrites {
			t.Errorf("%d requests at once, want %d at most", sink.most, maxWrites)
		}
	})
}

func TestNamespacesAreServedInTurnAlsoAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newAdmission(hang)
		q, end := start(t, Options{Sink: sink})
		for i := range 4000 {
			q.Put(noteIn("big", i))
		}
		for i := range 1000 {
			q.Put(noteIn("hostile", i))
		}
		for i := range 100 {
			q.Put(noteIn("shop", i))
		}
		end()
		if took := time.Since(sink.born); took != flushTime {
			t.Errorf("flushed for %v, want %v", took, flushTime)
		}
		if got := sink.storedIn("shop"); len(got) != 100 || got[99] > 1500*time.Millisecond {
			t.Errorf("%d of 100 stored: %v", len(got), got)
		}
		if sum := q.writtenCount() + q.droppedBy(droppedShutdown) + q.droppedBy(droppedTimeout); sum != 5100 {
			t.Errorf("%d written or dropped, want 5100", sum)
		}
	})
}

func TestEachNoteIsWrittenOrCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := after(time.Millisecond, errors.New("connection refused"))
		answers := []func(context.Context, int) error{slow(5 * time.Millisecond), hang, hang, gone, gone, slow(3 * time.Second)}
		sink := newAdmission(func(ctx context.Context, n int) error { return answers[n%len(answers)](ctx, n) })
		q, end := start(t, Options{Sink: sink})
		var group sync.WaitGroup
		for k := range 8 {
			group.Go(func() {
				for i := range 500 {
					q.Put(noteIn(fmt.Sprintf("hostile-%d", (i+k)%20), i))
					if i%10 == 0 {
						time.Sleep(time.Second)
					}
				}
			})
		}
		time.Sleep(40 * time.Second)
		end()
		group.Wait()
		counted := q.writtenCount()
		for _, reason := range []string{droppedFailed, droppedTimeout, droppedShutdown} {
			if q.droppedBy(reason) == 0 {
				t.Errorf("none is dropped because of %s", reason)
			}
			counted += q.droppedBy(reason)
		}
		if counted != 8*500 {
			t.Errorf("%d written or dropped, want 4000", counted)
		}
	})
}

// A namespace that fills the queue loses only its own notes.
func TestAFullQueueDropsTheNewestOfTheNamespaceWithMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newAdmission(hang)
		q := New(Options{Sink: sink, Capacity: 100, Leading: always})
		for i := range 1000 {
			q.Put(noteIn("big", i))
		}
		for i := range 30 {
			q.Put(noteIn("shop", i))
			q.Put(noteIn("big", 1000+i))
		}
		var kept []string
		for _, n := range q.lines["big"].notes {
			kept = append(kept, n.note.Pod.Name)
		}
		if got := len(q.lines["shop"].notes); got != 30 || len(kept) != 70 || kept[0] != "web-0" || kept[69] != "web-69" {
			t.Errorf("%d notes wait, and of the namespace with most %v; want 30, and the 70 oldest", got, kept)
		}
		if q.droppedBy(droppedFull) != 960 || q.dropped["n1"] != 960 {
			t.Errorf("%d dropped, and %v for summaries, want 960", q.droppedBy(droppedFull), q.dropped)
		}
	})
}

// A full queue drops no event about a trip, and events that hang delay it, and summaries, as they delay a namespace.
func TestEventsOnNodesAreServedInTurnWithThoseOfNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newAdmission(hang)
		q, end := start(t, Options{Sink: sink, Capacity: 1000})
		defer end()
		for k := range 50 {
			for range 21 { // more than the queue takes
				q.Put(noteIn(fmt.Sprintf("hostile-%d", k), 0))
			}
		}
		q.PutTrip(breaker.Event{Trip: policy.Trip{Breaker: "zones"}, Tripped: true, Names: []string{"n0", "n1"}})
		const turns = 2 * 50 * writeTimeout / maxWrites
		time.Sleep(turns)
		synctest.Wait()
		if got := sink.storedIn("default"); len(got) != 2 {
			t.Errorf("%d events about the trip are stored, want 2", len(got))
		}
		time.Sleep(summaryEvery + turns)
		synctest.Wait()
		if got := sink.storedIn("default"); len(got) != 3 {
			t.Errorf("%d events on nodes are stored, want a summary too", len(got))
		}
	})
}
