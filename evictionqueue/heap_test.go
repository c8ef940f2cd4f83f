package evictionqueue

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// after returns the entry of a pod on a node with its deadline so many seconds after the start.
func after(seconds int, node string, uid types.UID) Entry[int] {
	return Entry[int]{UID: uid, Node: node, At: second(seconds)}
}

func second(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

func filled(t *testing.T, entries ...Entry[int]) *checked {
	c := &checked{t: t}
	for _, e := range entries {
		c.Set(e)
	}
	return c
}

func served(t *testing.T, got []types.UID, want ...types.UID) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("served %q, want %q", got, want)
	}
}

func TestZeroHeapIsEmptyAndUsable(t *testing.T) {
	c := filled(t)
	_, next := c.h.Next()
	_, upcoming := c.h.Upcoming()
	_, cancelled := c.Cancel("p")
	_, got := c.h.Get("p")
	if next || upcoming || cancelled || got || c.Due(start) || c.h.Len() != 0 {
		t.Fatal("an empty heap has something")
	}
	served(t, c.drain(second(9)))
	c.Set(after(1, "n", "p"))
	served(t, c.drain(second(1)), "p")
}

func TestAnEvictionIsDueAtItsDeadlineAndNotANanosecondEarlier(t *testing.T) {
	c := filled(t, after(5, "n", "p"))
	served(t, c.drain(second(5).Add(-1)))
	served(t, c.drain(second(5)), "p")
	served(t, c.drain(second(5)))
}

func TestCancelledEvictionNeverFires(t *testing.T) {
	for name, cancelAt := range map[string]int{"before its time": 1, "when it is due": 5} {
		t.Run(name, func(t *testing.T) {
			c := filled(t, after(5, "n", "p"), after(5, "n", "q"))
			c.Due(second(cancelAt))
			if e, ok := c.Cancel("p"); !ok || e != after(5, "n", "p") {
				t.Fatalf("cancelled %+v, %v", e, ok)
			}
			served(t, c.drain(second(9)), "q")
		})
	}
}

func TestMovedEvictionFiresAtItsNewTime(t *testing.T) {
	for name, to := range map[string]int{"earlier": 2, "later": 8, "the same": 5} {
		t.Run(name, func(t *testing.T) {
			c := filled(t, after(5, "n", "p"))
			c.Set(after(to, "n", "p"))
			served(t, c.drain(second(to).Add(-1)))
			served(t, c.drain(second(to)), "p")
			served(t, c.drain(second(99)))
		})
	}
}

func TestADueEvictionMovedLaterIsNotServedUntilThen(t *testing.T) {
	c := filled(t, after(1, "n", "p"))
	c.Due(second(1))
	c.Set(after(3, "n", "p"))
	served(t, c.drain(second(2)))
	served(t, c.drain(second(3)), "p")
}

func TestAnEvictionMovedToAnotherNodeIsServedInThatNodesTurn(t *testing.T) {
	c := filled(t, after(1, "a", "a1"), after(1, "a", "a2"), after(1, "b", "b1"), after(1, "b", "b2"))
	c.Due(second(1))
	c.Set(after(1, "b", "a1"))
	served(t, c.drain(second(1)), "a2", "a1", "b1", "b2")
}

func TestSettingTwiceKeepsOneEntryWithTheLatestCause(t *testing.T) {
	c := filled(t, Entry[int]{UID: "p", Node: "n", At: start, Because: 1}, Entry[int]{UID: "p", Node: "n", At: start, Because: 2})
	if e, _ := c.PopDue(start); e.Because != 2 || c.h.Len() != 0 {
		t.Fatalf("popped %+v, %d left", e, c.h.Len())
	}
}

func TestWithinANodeDeadlineThenPriorityThenUIDDecide(t *testing.T) {
	c := filled(t,
		Entry[int]{UID: "d", At: second(2), Priority: math.MaxInt32},
		Entry[int]{UID: "c", At: second(1), Priority: math.MinInt32},
		Entry[int]{UID: "b", At: second(1)},
		Entry[int]{UID: "a", At: second(1)},
		Entry[int]{UID: "z", At: second(1), Priority: math.MaxInt32},
	)
	served(t, c.drain(second(2)), "z", "a", "b", "c", "d")
}

func TestANodeWithThousandsDueDoesNotStarveAnother(t *testing.T) {
	h := new(Heap[int])
	for i := range 5000 {
		h.Set(after(i%3, "big", types.UID(fmt.Sprint(i))))
	}
	h.Due(second(3))
	h.Set(after(3, "small", "s1"))
	h.Set(after(3, "small", "s2"))
	var smalls []int
	for i := range 5002 {
		if e, _ := h.PopDue(second(3)); e.Node == "small" {
			smalls = append(smalls, i)
		}
	}
	checkInvariants(t, h)
	// The big one is a regular by then, and the small one once its first is served.
	if !slices.Equal(smalls, []int{2, 10}) {
		t.Fatalf("the small node was served at %v, want 2 and 10", smalls)
	}
}

func TestNewcomersAndRegularsAreServedByTurns(t *testing.T) {
	c := filled(t)
	for _, node := range []string{"a", "b", "c", "d"} {
		for i := range 3 {
			c.Set(after(1, node, types.UID(fmt.Sprint(node, i))))
		}
	}
	served(t, c.drain(second(1)),
		"a0", "a1", "b0", "a2", "c0", "b1", "d0", // while there are newcomers
		"b2", "c1", "c2", "d1", "d2") // then node by node
}

func TestARegularHasEightServedBeforeTheNext(t *testing.T) {
	c := filled(t)
	for _, node := range []string{"a", "b"} {
		for i := range 20 {
			c.Set(after(1, node, types.UID(fmt.Sprintf("%s%02d", node, i))))
		}
	}
	var nodes []byte
	for _, uid := range c.drain(second(1)) {
		nodes = append(nodes, uid[0])
	}
	want := "aa" + "b" + strings.Repeat("a", 7) + strings.Repeat("b", 8) + strings.Repeat("a", 8) + strings.Repeat("b", 8) + "aaa" + "bbb"
	if string(nodes) != want {
		t.Fatalf("served\n%s, want\n%s", nodes, want)
	}
}

func TestNodesThatBecomeDueForeverDoNotStarveARegular(t *testing.T) {
	h := new(Heap[int])
	for i := range 10 {
		h.Set(after(0, "regular", types.UID(fmt.Sprint(i))))
	}
	h.PopDue(second(0))
	of := 0
	for i := range 18 {
		h.Set(after(0, fmt.Sprint("new ", i), types.UID(fmt.Sprint("new ", i))))
		h.Set(after(0, fmt.Sprint("newer ", i), types.UID(fmt.Sprint("newer ", i))))
		if e, _ := h.PopDue(second(0)); e.Node == "regular" {
			of++
		}
	}
	if of != 9 {
		t.Fatalf("%d of 18 were the regular's, want half", of)
	}
}

func TestANodeWhoseDueEntriesAreGoneLosesItsTurn(t *testing.T) {
	gone := map[string]func(c *checked){
		"cancelled":             func(c *checked) { c.Cancel("a1") },
		"moved later":           func(c *checked) { c.Set(after(9, "a", "a1")) },
		"moved to another node": func(c *checked) { c.Set(after(9, "z", "a1")) },
	}
	for name, lose := range gone {
		t.Run(name, func(t *testing.T) {
			c := filled(t, after(1, "a", "a1"), after(2, "b", "b1"))
			c.Due(second(2))
			lose(c)
			c.Set(after(2, "a", "a2"))
			served(t, c.drain(second(2)), "b1", "a2")
		})
	}
}

func TestAClockThatGoesBackServesNothingEarly(t *testing.T) {
	c := filled(t, after(1, "a", "a1"), after(5, "b", "b1"), after(5, "b", "b2"))
	c.Due(second(5))
	served(t, c.drain(second(4)), "a1")
	served(t, c.drain(second(5)), "b1", "b2")
}

func TestNextIsTheEarliestDeadlineDueOrNot(t *testing.T) {
	c := filled(t, after(5, "a", "a1"), after(2, "b", "b1"), after(9, "b", "b2"))
	for _, want := range []int{2, 5, 9} {
		c.Due(second(5))
		if next, ok := c.h.Next(); !ok || !next.Equal(second(want)) {
			t.Fatalf("next is %v, want %v", next, second(want))
		}
		e, _ := c.h.Get(map[int]types.UID{2: "b1", 5: "a1", 9: "b2"}[want])
		c.Cancel(e.UID)
	}
}

func TestUpcomingPassesOverNodesThatHaveTheirTurn(t *testing.T) {
	c := filled(t, after(1, "a", "a1"), after(3, "a", "a2"), after(5, "b", "b1"))
	c.Due(second(1))
	if at, _ := c.h.Upcoming(); !at.Equal(second(5)) {
		t.Fatalf("upcoming is %v, want that of b1", at)
	}
	c.PopDue(second(1))
	if at, _ := c.h.Upcoming(); !at.Equal(second(3)) {
		t.Fatalf("upcoming is %v, want that of a2", at)
	}
}

func TestDeadlinesOfAllYearsAreKeptExactlyAndInOrder(t *testing.T) {
	times := []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC),
		start, // with a monotonic reading
		start.Add(1),
		time.Date(2611, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600)),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
	}
	c := filled(t)
	for i := len(times) - 1; i >= 0; i-- {
		c.Set(Entry[int]{UID: types.UID(fmt.Sprint(i)), Node: "n", At: times[i]})
	}
	for i, want := range times {
		if next, _ := c.h.Next(); next != want {
			t.Fatalf("next is %v, want %v", next, want)
		}
		served(t, c.drain(want.Add(-1)))
		served(t, c.drain(want), types.UID(fmt.Sprint(i)))
	}
}

func TestAllEvictionsOfANodeCanBeCancelledWhileListed(t *testing.T) {
	c := filled(t, after(1, "a", "a1"), after(2, "a", "a2"), after(3, "a", "a3"), after(1, "b", "b1"))
	for e := range c.OnNode("a") {
		c.Cancel(e.UID)
	}
	served(t, c.drain(second(9)), "b1")
}

func TestListingANodeSkipsWhatHasLeftItMeanwhile(t *testing.T) {
	c := filled(t, after(1, "a", "a1"), after(2, "a", "a2"), after(3, "a", "a3"))
	var seen []types.UID
	for e := range c.OnNode("a") {
		seen = append(seen, e.UID)
		c.Cancel("a2")
		c.Set(after(3, "b", "a3"))
	}
	served(t, seen, "a1")
	for range c.OnNode("b") {
		break // stopping early is fine
	}
}

func TestTensOfThousandsAreServedInOrder(t *testing.T) {
	const n = 30_000
	h := new(Heap[int])
	for i := range n {
		h.Set(Entry[int]{UID: types.UID(fmt.Sprint(i)), Node: "n", At: start.Add(time.Duration(i * 7919 % n))})
	}
	checkInvariants(t, h)
	for i := range n {
		e, ok := h.PopDue(second(1))
		if !ok || !e.At.Equal(start.Add(time.Duration(i))) {
			t.Fatalf("served %v as number %d", e.At, i)
		}
		if i%1999 == 0 {
			checkInvariants(t, h)
		}
	}
}
