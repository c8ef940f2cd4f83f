package shard

import (
	"iter"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/evictionqueue"
)

// slowQueue holds the evictions that are due and wait for a slow place. The zero value is empty.
type slowQueue struct {
	heap       evictionqueue.Heap[waitingWhy]
	byWorkload map[Workload]map[types.UID]struct{}
}

// waitingWhy is what the queue keeps of a verdict, and the pod's slow workload.
type waitingWhy struct {
	why
	workload Workload
}

func (q *slowQueue) len() int { return q.heap.Len() }

// add adds an entry whose UID is not in the queue.
func (q *slowQueue) add(e evictionqueue.Entry[why], w Workload) {
	if q.byWorkload == nil {
		q.byWorkload = map[Workload]map[types.UID]struct{}{}
	}
	if q.byWorkload[w] == nil {
		q.byWorkload[w] = map[types.UID]struct{}{}
	}
	q.byWorkload[w][e.UID] = struct{}{}
	q.heap.Set(withBecause(e, waitingWhy{e.Because, w}))
}

// replace replaces the entry of the same UID; it reports false if there is none.
func (q *slowQueue) replace(e evictionqueue.Entry[why]) bool {
	old, ok := q.heap.Get(e.UID)
	if ok {
		q.heap.Set(withBecause(e, waitingWhy{e.Because, old.Because.workload}))
	}
	return ok
}

// get returns the entry of that UID.
func (q *slowQueue) get(uid types.UID) (evictionqueue.Entry[why], bool) {
	e, ok := q.heap.Get(uid)
	return withBecause(e, e.Because.why), ok
}

// cancel removes the entry of that UID and returns it.
func (q *slowQueue) cancel(uid types.UID) (evictionqueue.Entry[why], bool) {
	e, ok := q.heap.Cancel(uid)
	if ok {
		q.forget(e)
	}
	return withBecause(e, e.Because.why), ok
}

// pop removes and returns the next entry.
func (q *slowQueue) pop(now time.Time) (evictionqueue.Entry[why], bool) {
	e, ok := q.heap.PopDue(now)
	if ok {
		q.forget(e)
	}
	return withBecause(e, e.Because.why), ok
}

func (q *slowQueue) forget(e evictionqueue.Entry[waitingWhy]) {
	uids := q.byWorkload[e.Because.workload]
	delete(uids, e.UID)
	if len(uids) == 0 {
		delete(q.byWorkload, e.Because.workload)
	}
}

// all yields every entry, in no order.
func (q *slowQueue) all() iter.Seq[evictionqueue.Entry[why]] {
	return func(yield func(evictionqueue.Entry[why]) bool) {
		for e := range q.heap.All() {
			if !yield(withBecause(e, e.Because.why)) {
				return
			}
		}
	}
}

// release removes the entries whose workloads are not slow, and one entry of each slow workload without a call
// under way, and passes them to the function. The order depends on the entries alone.
func (q *slowQueue) release(slow SlowWorkloads, to func(evictionqueue.Entry[why])) {
	for _, w := range slices.Sorted(maps.Keys(q.byWorkload)) {
		busy, still := slow[w]
		if busy {
			continue
		}
		uids := slices.Sorted(maps.Keys(q.byWorkload[w]))
		if still {
			uids = uids[:1]
		}
		for _, uid := range uids {
			if e, ok := q.cancel(uid); ok {
				to(e)
			}
		}
	}
}

// withBecause returns the entry with another Because.
func withBecause[A, B any](e evictionqueue.Entry[A], because B) evictionqueue.Entry[B] {
	return evictionqueue.Entry[B]{UID: e.UID, Node: e.Node, At: e.At, Priority: e.Priority, Because: because}
}
