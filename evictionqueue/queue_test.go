package evictionqueue

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// in runs the test in virtual time with an empty queue.
func in(t *testing.T, test func(t *testing.T, q *Queue[int])) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int]()
		defer q.Stop()
		test(t, q)
	})
}

func inSeconds(n int, node string, uid types.UID) Entry[int] {
	return Entry[int]{UID: uid, Node: node, At: time.Now().Add(time.Duration(n) * time.Second)}
}

// fires says after how many seconds the timer fires, or -1 when it does not for an hour.
func fires(q *Queue[int]) int {
	begin := time.Now()
	select {
	case <-q.C():
		return int(time.Since(begin) / time.Second)
	case <-time.After(time.Hour):
		return -1
	}
}

func firesAfter(t *testing.T, q *Queue[int], want int) {
	t.Helper()
	if got := fires(q); got != want {
		t.Fatalf("the timer fired after %d s, want %d", got, want)
	}
}

const never = -1

func TestTimerOfAnEmptyQueueNeverFires(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		firesAfter(t, q, never)
		q.Arm(time.Now())
		firesAfter(t, q, never)
	})
}

func TestTimerFiresAtTheEarliestDeadline(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		q.Set(inSeconds(30, "a", "p"))
		q.Set(inSeconds(4, "b", "q"))
		q.Arm(time.Now())
		firesAfter(t, q, 4)
		if e, ok := q.PopDue(time.Now()); !ok || e.UID != "q" {
			t.Fatalf("popped %+v, %v", e, ok)
		}
		q.Arm(time.Now())
		firesAfter(t, q, 26)
	})
}

func TestTimerFollowsWhatIsSetMovedAndCancelled(t *testing.T) {
	changes := map[string]struct {
		change func(q *Queue[int])
		want   int
	}{
		"earlier":          {func(q *Queue[int]) { q.Set(inSeconds(3, "n", "p")) }, 3},
		"later":            {func(q *Queue[int]) { q.Set(inSeconds(15, "n", "p")) }, 15},
		"another before":   {func(q *Queue[int]) { q.Set(inSeconds(2, "m", "q")) }, 2},
		"another after":    {func(q *Queue[int]) { q.Set(inSeconds(20, "m", "q")) }, 10},
		"cancelled":        {func(q *Queue[int]) { q.Cancel("p") }, never},
		"cancelled, later": {func(q *Queue[int]) { q.Cancel("p"); q.Set(inSeconds(20, "m", "q")) }, 20},
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, q *Queue[int]) {
				q.Set(inSeconds(10, "n", "p"))
				q.Arm(time.Now())
				c.change(q)
				q.Arm(time.Now())
				firesAfter(t, q, c.want)
			})
		})
	}
}

func TestTimerFiresOnceForWhatIsDueAndNotServed(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		q.Set(inSeconds(1, "n", "p"))
		q.Arm(time.Now())
		firesAfter(t, q, 1)
		for range 3 {
			q.Arm(time.Now())
			firesAfter(t, q, never)
		}
		if !q.Due(time.Now()) {
			t.Fatal("what was not served is no longer due")
		}
	})
}

func TestTimerFiresForAnotherNodeWhileOneIsDue(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		q.Set(inSeconds(0, "a", "a1"))
		q.Set(inSeconds(5, "a", "a2"))
		q.Set(inSeconds(7, "b", "b1"))
		q.Arm(time.Now())
		firesAfter(t, q, 7)
	})
}

func TestAnEntryBehindADueOneHasItsTimerOnceThatIsServed(t *testing.T) {
	for name, gone := range map[string]func(q *Queue[int]){
		"popped":    func(q *Queue[int]) { q.PopDue(time.Now()) },
		"cancelled": func(q *Queue[int]) { q.Cancel("a1") },
		"moved":     func(q *Queue[int]) { q.Set(inSeconds(60, "a", "a1")) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, q *Queue[int]) {
				q.Set(inSeconds(0, "a", "a1"))
				q.Set(inSeconds(5, "a", "a2"))
				q.Arm(time.Now())
				gone(q)
				q.Arm(time.Now())
				firesAfter(t, q, 5)
			})
		})
	}
}

func TestArmDropsATickThatWasNotReceived(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		q.Set(inSeconds(1, "n", "p"))
		q.Arm(time.Now())
		time.Sleep(2 * time.Second)
		q.Arm(time.Now())
		firesAfter(t, q, never)
	})
}

func TestArmingWithAnOldNowFiresAtOnceRatherThanNever(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		old := time.Now()
		q.Set(inSeconds(1, "n", "p"))
		time.Sleep(2 * time.Second)
		q.Arm(old)
		firesAfter(t, q, 0)
	})
}

func TestAFarDeadlineNeitherFiresNorHidesANearOne(t *testing.T) {
	for _, far := range []time.Time{
		time.Date(2611, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		in(t, func(t *testing.T, q *Queue[int]) {
			q.Set(Entry[int]{UID: "far", Node: "n", At: far})
			q.Arm(time.Now())
			firesAfter(t, q, never)
			q.Set(inSeconds(3, "n", "near"))
			q.Arm(time.Now())
			firesAfter(t, q, 3)
		})
	}
}

func TestAStoppedTimerIsSilentUntilArmedAgain(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		q.Set(inSeconds(7200, "n", "p"))
		q.Arm(time.Now())
		q.Stop()
		time.Sleep(7000 * time.Second)
		firesAfter(t, q, never)
		q.Set(inSeconds(9, "n", "p"))
		q.Arm(time.Now())
		firesAfter(t, q, 9)
	})
}

// The loop of the doc comment, with one slot that is busy for three seconds after each call.
func TestALoopRoundTheQueueServesAllInTimeAndWakesOnlyWithCause(t *testing.T) {
	in(t, func(t *testing.T, q *Queue[int]) {
		begin := time.Now()
		for _, e := range []Entry[int]{inSeconds(1, "a", "a1"), inSeconds(2, "a", "a2"), inSeconds(2, "b", "b1"), inSeconds(20, "b", "b2")} {
			q.Set(e)
		}
		var slot <-chan time.Time
		var at []int
		wakes := 0
		for q.Arm(time.Now()); q.Len() > 0; wakes++ {
			select {
			case <-q.C():
			case <-slot:
				slot = nil
			}
			now := time.Now()
			if e, ok := pop(q, slot == nil, now); ok {
				slot = time.After(3 * time.Second)
				at = append(at, int(e.At.Sub(begin)/time.Second), int(now.Sub(begin)/time.Second))
			}
			q.Arm(now)
		}
		// Pairs of deadline and service. The wakes: 3 slots, and the deadlines at 1, 2 and 20, of
		// which that of a2 and b1 is one.
		if !slices.Equal(at, []int{1, 1, 2, 4, 2, 7, 20, 20}) || wakes != 6 {
			t.Fatalf("served %v in %d wakes", at, wakes)
		}
	})
}

func pop(q *Queue[int], free bool, now time.Time) (Entry[int], bool) {
	if !free {
		return Entry[int]{}, false
	}
	return q.PopDue(now)
}
