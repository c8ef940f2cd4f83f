package load

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAPodCountsAsDeletedFromItsFirstSightOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDeletionTimes()
		began := time.Now()
		now := metav1.Now()
		d.noteTerminating(&v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "a"}})
		d.noteTerminating(&v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "b", DeletionTimestamp: &now}})
		time.AfterFunc(time.Second, func() { d.note("b") })
		time.AfterFunc(2*time.Second, func() { d.note("a") })
		if _, deleted := d.Of(t.Context(), "a", began.Add(1500*time.Millisecond)); deleted {
			t.Error("a pod that is not deleted counts as deleted")
		}
		times, err := d.Wait(t.Context(), []Identity{{UID: "a"}, {UID: "b"}, {UID: "c"}}, 1)
		slices.SortFunc(times, time.Time.Compare)
		want := []time.Time{began, began.Add(2 * time.Second)}
		if err != nil || !slices.EqualFunc(times, want, time.Time.Equal) {
			t.Errorf("got %v, %v; want %v", times, err, want)
		}
	})
}

func TestWaitSaysHowManyAreLeftWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDeletionTimes()
		d.note("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		times, err := d.Wait(ctx, []Identity{{UID: "a"}, {UID: "b"}}, 0)
		if err == nil || len(times) != 1 {
			t.Errorf("got %v, %v; want one time and an error", times, err)
		}
	})
}

func TestSpreadEndsAtTheFirstError(t *testing.T) {
	calls := make(chan int, 100)
	err := Spread(t.Context(), 1, 100, func(_ context.Context, i int) error {
		calls <- i
		if i == 3 {
			return context.Canceled
		}
		return nil
	})
	if err == nil || len(calls) != 4 {
		t.Errorf("got %d calls and %v; want 4 and an error", len(calls), err)
	}
}
