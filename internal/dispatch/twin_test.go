package dispatch

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// twin knows the rules and two lists: who waits and which calls are in flight. It judges each start of a Core, and that
// no further call may start.
type twin struct {
	*rapid.T
	n              int
	now            time.Time
	waiting, calls []*twinItem
	served         map[string]int // of each namespace that has candidates or calls
	serial         int
	rates          *Rates
}

type twinItem struct {
	Candidate
	started time.Time
	buckets Buckets
}

func (t *twin) young() (n int) {
	for _, c := range t.calls {
		if c.started.Add(time.Second).After(t.now) {
			n++
		}
	}
	return n
}

func (t *twin) inFlight(namespace string) (n int) {
	for _, c := range t.calls {
		if namespace == "" || c.Namespace == namespace {
			n++
		}
	}
	return n
}

func (t *twin) offer(it *twinItem) {
	if _, known := t.served[it.Namespace]; !known {
		t.serve(it.Namespace)
	}
	t.waiting = append(t.waiting, it)
}

func (t *twin) serve(namespace string) { t.serial++; t.served[namespace] = t.serial }

func (t *twin) forget(namespace string) {
	same := func(it *twinItem) bool { return it.Namespace == namespace }
	if !slices.ContainsFunc(t.waiting, same) && !slices.ContainsFunc(t.calls, same) {
		delete(t.served, namespace)
	}
}

func remove(from *[]*twinItem, uid types.UID) *twinItem {
	i := slices.IndexFunc(*from, func(it *twinItem) bool { return it.UID == uid })
	it := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	return it
}

// admitted returns the candidates that may start now: the first of each namespace and set of rates that rules 1 and 3
// and their tokens admit.
func (t *twin) admitted() (all []*twinItem) {
	for _, it := range t.waiting {
		first := !slices.ContainsFunc(t.waiting, func(o *twinItem) bool {
			return o.Namespace == it.Namespace && o.buckets.Key == it.buckets.Key && before(&item{Candidate: o.Candidate}, &item{Candidate: it.Candidate})
		})
		total := t.inFlight("")
		rate, _ := it.buckets.Wait(t.now)
		if first && t.young() < t.n && total < 3*t.n && 2*t.inFlight(it.Namespace) < 3*t.n-total && rate == "" {
			all = append(all, it)
		}
	}
	return all
}

// order is the order of rule 2.
func (t *twin) order(a, b *twinItem) int {
	repeats := func(it *twinItem) int { return min(it.Ways[0].Attempt, 2) }
	if d := t.inFlight(a.Namespace) - t.inFlight(b.Namespace); d != 0 {
		return d
	}
	if d := repeats(a) - repeats(b); d != 0 {
		return d
	}
	return t.served[a.Namespace] - t.served[b.Namespace]
}

// start judges a start, and notes it.
func (t *twin) start(uid types.UID) {
	admitted := t.admitted()
	i := slices.IndexFunc(admitted, func(it *twinItem) bool { return it.UID == uid })
	if i < 0 {
		t.Fatalf("pod %s starts, and the rules admit %v", uid, admitted)
	}
	it := admitted[i]
	rated := func(it *twinItem) bool { return it.buckets.Key != "" }
	var next *twinItem // whose namespace gets the next token
	for _, other := range admitted {
		if rated(other) && (next == nil || t.served[other.Namespace] < t.served[next.Namespace] ||
			other.Namespace == next.Namespace && t.order(other, next) < 0) {
			next = other
		}
	}
	for _, other := range admitted {
		switch {
		case rated(it) && rated(other):
			if t.served[next.Namespace] < t.served[it.Namespace] {
				t.Fatalf("pod %s takes a token, and namespace %s was served longer ago", uid, next.Namespace)
			}
		case !rated(other) || other == next:
			if t.order(other, it) < 0 {
				t.Fatalf("pod %s of %s with %d calls starts before pod %s of %s with %d, against rule 2", uid, it.Namespace,
					t.inFlight(it.Namespace), other.UID, other.Namespace, t.inFlight(other.Namespace))
			}
		}
	}
	it.started = t.now
	it.buckets.Take(t.now)
	t.calls = append(t.calls, remove(&t.waiting, uid))
	t.serve(it.Namespace)
}

// step lets both process the input, and compares them.
func (t *twin) step(c *Core, in Input) {
	for _, s := range c.Step(t.now, in).Starts {
		t.start(s.Pod.UID)
	}
	if left := t.admitted(); len(left) > 0 {
		t.Fatalf("after %T, pod %s of namespace %s waits, and the rules admit it", in, left[0].UID, left[0].Namespace)
	}
	if c.Waiting() != len(t.waiting) || c.InFlight() != len(t.calls) {
		t.Fatalf("%d wait and %d are in flight, want %d and %d", c.Waiting(), c.InFlight(), len(t.waiting), len(t.calls))
	}
}
