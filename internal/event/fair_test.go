package event

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// admission answers the events of namespaces that begin with "hostile"; it takes those of others in 5 ms.
func admission(answer func(context.Context, int) error) *fakeSink {
	quick := func(namespace string) bool { return !strings.HasPrefix(namespace, "hostile") }
	return &fakeSink{answer: answer, quick: quick}
}

// storedIn returns when the events of a namespace were stored.
func (f *fakeSink) storedIn(namespace string, since time.Time) (after []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, event := range f.stored {
		if event.Namespace == namespace {
			after = append(after, f.at[i].Sub(since))
		}
	}
	return after
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
					sink, began := admission(test.answer), time.Now()
					q, end := start(t, Options{Sink: sink.Create})
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
					checkDelays(t, sink.storedIn("shop", began), 350, func(i int) time.Duration {
						return max(0, time.Duration(i-49)*100*time.Millisecond)
					})
				})
			})
		}
	}
}

// Eight namespaces have all writers. A write that hangs gives its writer to the next event, not to its own second try.
func TestManyNamespacesDelayOthersByOneWriteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink, began := admission(hang), time.Now()
		q, end := start(t, Options{Sink: sink.Create})
		defer end()
		for i := range maxWrites {
			q.Put(noteIn(fmt.Sprint("hostile-", i/maxInNamespace), i))
		}
		synctest.Wait()
		q.Put(noteIn("shop", 0))
		time.Sleep(writeTimeout + time.Second)
		checkDelays(t, sink.storedIn("shop", began), 1, func(int) time.Duration { return writeTimeout })
	})
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

func TestEachNoteIsWrittenOrCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := after(time.Millisecond, errors.New("connection refused"))
		answers := []func(context.Context, int) error{slow(5 * time.Millisecond), hang, hang, gone, gone, gone}
		sink := admission(func(ctx context.Context, n int) error { return answers[n%len(answers)](ctx, n) })
		q, end := start(t, Options{Sink: sink.Create})
		var group sync.WaitGroup
		for k := range 4 {
			group.Go(func() {
				for i := range 50 {
					q.Put(noteIn(fmt.Sprintf("hostile-%d", (i+k)%20), i))
					time.Sleep(time.Second)
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
		if counted != 4*50 {
			t.Errorf("%d written or dropped, want 200", counted)
		}
	})
}

// A namespace that fills its part of the queue loses only its own notes.
func TestANamespaceHasAQuarterOfTheQueue(t *testing.T) {
	q := New(Options{Sink: admission(hang).Create, Leading: always})
	for i := range 2 * capacity {
		q.Put(noteIn("big", i))
	}
	for i := range 30 {
		q.Put(noteIn("shop", i))
	}
	if big, shop := q.namespaces["big"].waiting, q.namespaces["shop"].waiting; big != nsCapacity || shop != 30 {
		t.Errorf("%d and %d notes wait, want %d and 30", big, shop, nsCapacity)
	}
	if got := q.droppedBy(droppedFull); got != 2*capacity-nsCapacity {
		t.Errorf("%d dropped", got)
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	q := New(Options{Sink: admission(hang).Create, Leading: always})
	for i := range 2 * capacity {
		q.Put(noteIn(fmt.Sprint("team-", i%100), i))
	}
	if got := len(q.queue); got != capacity {
		t.Errorf("%d notes wait, want %d", got, capacity)
	}
}
