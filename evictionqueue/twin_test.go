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
// the order of their turns.
type twin struct {
	entries     []Entry[int]
	newcomers   []string
	regulars    []string
	stayed      int
	regularLast bool
	now         time.Time
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
	return w.cancel(w.on(w.serve())[0].UID)
}

func (w *twin) serve() string {
	if len(w.newcomers) > 0 && (w.regularLast || len(w.regulars) == 0) {
		node := w.newcomers[0]
		w.newcomers, w.regulars = w.newcomers[1:], append(w.regulars, node)
		w.regularLast = false
		return node
	}
	node := w.regulars[0]
	w.regularLast = true
	w.stayed++
	if w.stayed == 8 {
		w.regulars, w.stayed = append(w.regulars[1:], node), 0
	}
	return node
}

// due brings the round robin up to now.
func (w *twin) due(now time.Time) bool {
	w.now = now
	w.leave()
	for _, e := range w.entries {
		if !e.At.After(now) && !w.inTurn(e.Node) {
			w.newcomers = append(w.newcomers, e.Node)
		}
	}
	return len(w.newcomers)+len(w.regulars) > 0
}

func (w *twin) inTurn(node string) bool {
	return slices.Contains(w.newcomers, node) || slices.Contains(w.regulars, node)
}

// leave takes the nodes that have nothing due out of the round robin.
func (w *twin) leave() {
	nothing := func(node string) bool {
		on := w.on(node)
		return len(on) == 0 || on[0].At.After(w.now)
	}
	if len(w.regulars) > 0 && nothing(w.regulars[0]) {
		w.stayed = 0
	}
	w.newcomers = slices.DeleteFunc(w.newcomers, nothing)
	w.regulars = slices.DeleteFunc(w.regulars, nothing)
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
					return e.At.After(now) && !w.inTurn(e.Node)
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
