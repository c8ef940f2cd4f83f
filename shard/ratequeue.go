package shard

import (
	"iter"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/guard"
)

// rateQueue holds the evictions that are due and wait for a token of a rate. Those that count against the same buckets
// wait in one class, of which one at a time tries to take its tokens: while it can't, the others can't either. The
// zero value is empty.
type rateQueue struct {
	classes map[string]*rateClass
	waiting map[types.UID]*rateWaiter
	byRate  map[string]int // how many wait for each rate
	changes int            // of byRate
	alarms  int            // of those that wait: they have an entry in the core's queue
}

// rateClass holds the evictions that wait for the same buckets. It is never empty.
type rateClass struct {
	wait  guard.Wait // of the last try
	size  int
	first *rateWaiter
	rest  evictionqueue.Heap[why]
}

// rateWaiter is one eviction that waits.
type rateWaiter struct {
	entry evictionqueue.Entry[why]
	class *rateClass

	// other is when another action of the pod may be due, for which other rates count; zero if none is to be expected.
	other time.Time

	// alarm is when the pod is tried, from the core's queue; zero if it is not there.
	alarm time.Time
}

// afterAll is later than any deadline.
var afterAll = time.Unix(1<<40, 0)

func (q *rateQueue) len() int { return len(q.waiting) }

// add adds an eviction that waits. It becomes the first of its class if there is no other.
func (q *rateQueue) add(w *rateWaiter, wait guard.Wait) {
	if q.waiting == nil {
		q.classes, q.waiting, q.byRate = map[string]*rateClass{}, map[types.UID]*rateWaiter{}, map[string]int{}
	}
	w.class = q.classes[wait.Buckets]
	if w.class == nil {
		w.class = &rateClass{}
		q.classes[wait.Buckets] = w.class
	}
	q.count(w.class, -w.class.size) // another rate may be the tightest now
	w.class.wait = wait
	w.class.size++
	q.count(w.class, w.class.size)
	q.waiting[w.entry.UID] = w
	if w.class.first == nil {
		w.class.first = w
		return
	}
	w.class.rest.Set(w.entry)
}

// remove removes an eviction. If it was the first of its class, that has none before [rateQueue.follow] is called.
func (q *rateQueue) remove(uid types.UID) *rateWaiter {
	w := q.waiting[uid]
	switch {
	case w == nil:
		return nil
	case w.class.first == w:
		w.class.first = nil
	default:
		w.class.rest.Cancel(uid)
	}
	q.count(w.class, -1)
	w.class.size--
	delete(q.waiting, uid)
	return w
}

// count adds n to the number of evictions that wait for the rate of a class.
func (q *rateQueue) count(c *rateClass, n int) {
	if n == 0 {
		return
	}
	q.changes++
	if q.byRate[c.wait.Rate] += n; q.byRate[c.wait.Rate] == 0 {
		delete(q.byRate, c.wait.Rate)
	}
}

// follow makes the next eviction of a class without a first one the first, and returns it; nil if the class has a first
// one, or is empty and so ends.
func (q *rateQueue) follow(c *rateClass) *rateWaiter {
	if c.first != nil {
		return nil
	}
	e, ok := c.rest.PopDue(afterAll)
	if !ok {
		delete(q.classes, c.wait.Buckets)
		return nil
	}
	c.first = q.waiting[e.UID]
	return c.first
}

// firsts yields the first eviction of each class, in an order that depends on the classes alone.
func (q *rateQueue) firsts() iter.Seq[*rateWaiter] {
	return func(yield func(*rateWaiter) bool) {
		for _, name := range slices.Sorted(maps.Keys(q.classes)) {
			if !yield(q.classes[name].first) {
				return
			}
		}
	}
}

// WaitingForRate returns how many evictions are due and wait for a token of a rate.
func (c *Core) WaitingForRate() int { return c.rates.len() }

// WaitingByRate returns how many evictions are due and wait for a token, by the names of their rates.
func (c *Core) WaitingByRate() map[string]int { return maps.Clone(c.rates.byRate) }

// waitForRate makes an eviction that is due wait for a rate. other is when another action, for which other rates count,
// may be due; zero if none is.
func (c *Core) waitForRate(e evictionqueue.Entry[why], wait guard.Wait, other time.Time) {
	w := &rateWaiter{entry: e, other: other}
	c.rates.add(w, wait)
	c.alarm(w, time.Time{})
	c.alarm(w.class.first, wait.Until)
}

// next returns when the eviction is tried again as far as is known: once its rate may have a token, or because of another
// action; zero if neither is known.
func (w *rateWaiter) next() time.Time {
	until := w.class.wait.Until
	if until.IsZero() || !w.other.IsZero() && w.other.Before(until) {
		return w.other
	}
	return until
}

// alarm puts an eviction that waits into the queue, to be tried at that time or at that of its other action; if both
// are zero, it is not there.
func (c *Core) alarm(w *rateWaiter, at time.Time) {
	if at.IsZero() || !w.other.IsZero() && w.other.Before(at) {
		at = w.other
	}
	switch {
	case at.IsZero() && !w.alarm.IsZero():
		c.queue.Cancel(w.entry.UID)
		c.rates.alarms--
	case !at.IsZero():
		if w.alarm.IsZero() {
			c.rates.alarms++
		}
		e := w.entry
		e.At = at
		c.queue.Set(e)
	}
	w.alarm = at
}

// stopWaitingForRate removes an eviction from those that wait for a rate and returns it.
func (c *Core) stopWaitingForRate(uid types.UID) (evictionqueue.Entry[why], bool) {
	w := c.rates.remove(uid)
	if w == nil {
		return evictionqueue.Entry[why]{}, false
	}
	w.other = time.Time{}
	c.alarm(w, time.Time{})
	c.tryNext(w.class)
	return w.entry, true
}

// tryNext makes the next eviction of a class try at once if the first one no longer waits in it: only a try shows until
// when the class waits. The class may be nil.
func (c *Core) tryNext(class *rateClass) {
	if class == nil {
		return
	}
	if next := c.rates.follow(class); next != nil {
		c.alarm(next, next.entry.At)
	}
}

// With more classes than these that wait, tries after a change are spread: a call that is blocked gives its tokens back,
// and one of a thousand such calls would otherwise make each class try for each of the others.
const (
	fewClasses = 16
	tryEach    = 200 * time.Microsecond
)

// tryRates makes the first eviction of each class try again: at once if there are few classes, otherwise as soon as that
// takes a small share of the time.
func (c *Core) tryRates(now time.Time) {
	var spread time.Duration
	if n := len(c.rates.classes); n > fewClasses {
		spread = time.Duration(n) * tryEach
	}
	for w := range c.rates.firsts() {
		at := w.entry.At
		if spread > 0 {
			at = now.Add(spread)
		}
		if w.alarm.IsZero() || at.Before(w.alarm) {
			c.alarm(w, at)
		}
	}
}
