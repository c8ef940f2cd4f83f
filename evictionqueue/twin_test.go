package evictionqueue

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// twin says the same as a heap in the dumbest way: a sorted slice, and the names of the nodes in
// the order of their turn.
type twin struct {
	entries []Entry[int]
	turn    []string
	now     time.Time
}

func (w *twin) set(e Entry[int]) {
	w.entries = append(slices.DeleteFunc(w.entries, func(o Entry[int]) bool { return o.UID == e.UID }), e)
	slices.SortFunc(w.entries, func(a, b Entry[int]) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.UID, b.UID))
	})
	w.leave()
}

func (w *twin) cancel(uid types.UID) (Entry[int], bool) {
	i := slices.IndexFunc(w.entries, func(e Entry[int]) bool { return e.UID == uid })
	if i < 0 {
		return Entry[int]{}, false
	}
	e := w.entries[i]
	w.entries = slices.Delete(w.entries, i, i+1)
	w.leave()
	return e, true
}

func (w *twin) popDue(now time.Time) (Entry[int], bool) {
	if !w.due(now) {
		return Entry[int]{}, false
	}
	w.turn = append(w.turn[1:], w.turn[0])
	node := w.turn[len(w.turn)-1]
	return w.cancel(w.on(node)[0].UID)
}

// due brings the turn up to now.
func (w *twin) due(now time.Time) bool {
	w.now = now
	w.leave()
	for _, e := range w.entries {
		if !e.At.After(now) && !slices.Contains(w.turn, e.Node) {
			w.turn = append(w.turn, e.Node)
		}
	}
	return len(w.turn) > 0
}

// leave takes the nodes that have nothing due out of the turn.
func (w *twin) leave() {
	w.turn = slices.DeleteFunc(w.turn, func(node string) bool {
		on := w.on(node)
		return len(on) == 0 || on[0].At.After(w.now)
	})
}

func (w *twin) on(node string) []Entry[int] {
	return w.filter(func(e Entry[int]) bool { return e.Node == node })
}

func (w *twin) filter(keep func(Entry[int]) bool) []Entry[int] {
	return slices.DeleteFunc(slices.Clone(w.entries), func(e Entry[int]) bool { return !keep(e) })
}

// earliest is the deadline of the first of these entries.
func earliestOf(entries []Entry[int]) (time.Time, bool) {
	if len(entries) == 0 {
		return time.Time{}, false
	}
	return entries[0].At, true
}

// The values are few, so that ties, moves between nodes and empty nodes are common.
func drawEntry(t *rapid.T) Entry[int] {
	return Entry[int]{
		UID:      drawUID(t),
		Node:     rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "node"),
		At:       drawTime(t),
		Priority: rapid.Int32Range(-1, 1).Draw(t, "priority"),
		Because:  rapid.Int().Draw(t, "because"),
	}
}

func drawUID(t *rapid.T) types.UID {
	return types.UID(fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "uid")))
}

func drawTime(t *rapid.T) time.Time {
	return start.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "second")) * time.Second)
}

func TestHeapDoesWhatItsTwinDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := &twin{}, &checked{t: t}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				e := drawEntry(t)
				w.set(e)
				c.Set(e)
			},
			"cancel": func(t *rapid.T) {
				uid := drawUID(t)
				e, ok := w.cancel(uid)
				same(t, "Cancel", pair(e, ok), pair(c.Cancel(uid)))
			},
			"popDue": func(t *rapid.T) {
				now := drawTime(t)
				e, ok := w.popDue(now)
				same(t, "PopDue", pair(e, ok), pair(c.PopDue(now)))
			},
			"due": func(t *rapid.T) {
				now := drawTime(t)
				same(t, "Due", w.due(now), c.Due(now))
				same(t, "Upcoming after Due", pair(earliestOf(w.filter(func(e Entry[int]) bool {
					return e.At.After(now) && !slices.Contains(w.turn, e.Node)
				}))), pair(c.h.Upcoming()))
			},
			"": func(t *rapid.T) { sameQuestions(t, w, c) },
		})
	})
}

// sameQuestions compares the answers to all that changes nothing.
func sameQuestions(t *rapid.T, w *twin, c *checked) {
	same(t, "Len", len(w.entries), c.h.Len())
	same(t, "Next", pair(earliestOf(w.entries)), pair(c.h.Next()))
	for _, e := range w.entries {
		same(t, "Get", pair(e, true), pair(c.h.Get(e.UID)))
	}
	for _, node := range []string{"", "a", "b", "c", "d", "no such"} {
		byUID := func(a, b Entry[int]) int { return cmp.Compare(a.UID, b.UID) }
		same(t, "OnNode", fmt.Sprint(slices.SortedFunc(slices.Values(w.on(node)), byUID)),
			fmt.Sprint(slices.SortedFunc(c.OnNode(node), byUID)))
	}
}

// answer is a value with its ok.
type answer[T any] struct {
	value T
	ok    bool
}

func pair[T any](value T, ok bool) answer[T] { return answer[T]{value, ok} }

func same[T comparable](t fataler, what string, want, got T) {
	t.Helper()
	if want != got {
		t.Fatalf("%s: got %+v, want %+v", what, got, want)
	}
}
