package dispatch

import (
	"cmp"
	"time"
)

// remembered is how long a call predicts the calls after it: longer than any backoff, so that a pod that is tried once
// a minute does not take a slot each time.
const remembered = 2 * time.Minute

// recovered is how many quick calls of a namespace in a row show that admission is quick again. Without this rule a
// pause of the API server of little more than a second would make a namespace slow for the time remembered.
const recovered = 16

// kind is a kind of place.
type kind uint8

const (
	slot kind = iota
	slowPlace
)

// speed says how admission treats the calls of a namespace or of a workload.
type speed uint8

const (
	unknown speed = iota
	quick
	slow
	speeds
)

// namespace is what is known of a namespace. It exists while it has workloads.
type namespace struct {
	name       string
	workloads  map[uint64]*workload
	lines      map[*class]*line
	speeds     [speeds]int // number of workloads by their speed
	calls      [2]int      // under way, by the kind of their places
	served     uint64      // serial number of the last call, or of the creation
	probe      *item       // the call of an unknown workload in a slot, while the namespace is slow; or nil
	quickCalls int         // since the last slow call ended
}

// speed returns the speed of the slowest workload that is known.
func (n *namespace) speed() speed {
	switch {
	case n.speeds[slow] > 0:
		return slow
	case n.speeds[quick] > 0:
		return quick
	}
	return unknown
}

// allCalls returns the number of calls under way in all places.
func (n *namespace) allCalls() int { return n.calls[slot] + n.calls[slowPlace] }

// workload is what is known of a workload of a namespace. It exists while it has candidates or calls, or is remembered.
type workload struct {
	hash      uint64
	namespace *namespace
	waiting   int    // candidates
	calls     int    // under way
	served    uint64 // as in namespace

	speed speed     // as of the last refresh
	last  speed     // by the last call that counts
	until time.Time // then that call is forgotten
	pos   int       // in Core.expiries
}

// expiresBefore is the order in which what is known of workloads is forgotten.
func (w *workload) expiresBefore(v *workload) bool {
	return cmp.Or(w.until.Compare(v.until), cmp.Compare(w.namespace.name, v.namespace.name),
		cmp.Compare(w.hash, v.hash)) < 0
}

// count adds to the calls in that kind of place.
func (w *workload) count(k kind, by int) {
	w.calls += by
	w.namespace.calls[k] += by
}

// startsSlow reports whether the candidate starts in a slow place, unless as a probe.
func (it *item) startsSlow() bool {
	return it.Own == Other && it.workload.namespace.speed() == slow && it.workload.speed != quick
}

// remember takes in the end of a call that was slow, or that admission has answered within SlowAfter. Until a slow call
// is forgotten, the workload's quick calls count only for its namespace.
func (c *Core) remember(now time.Time, w *workload, is speed) {
	n := w.namespace
	if n.quickCalls++; is == slow {
		n.quickCalls = 0
	}
	if n.quickCalls >= recovered {
		c.recover(now, w)
	}
	if is == slow || c.speedOf(now, w) != slow {
		w.last, w.until = is, now.Add(remembered)
		c.expiries.Set(w)
	}
}

// recover forgets the slow calls of the namespace of a workload, which is refreshed later, unless a call is slow now.
func (c *Core) recover(now time.Time, w *workload) {
	n := w.namespace
	if n.speeds[slow] == 0 || c.countCalls(func(it *item) bool { return it.slow && it.workload.namespace == n }) > 0 {
		return
	}
	for _, other := range n.workloads {
		if other.speed != slow {
			continue
		}
		other.until = now
		if c.expiries.Remove(other); other != w {
			c.refresh(now, other)
		}
	}
}

// speedOf returns the speed of a workload at that moment.
func (c *Core) speedOf(now time.Time, w *workload) speed {
	switch {
	case c.countCalls(func(it *item) bool { return it.slow && it.workload == w }) > 0:
		return slow
	case now.Before(w.until):
		return w.last
	}
	return unknown
}

// workloadOf returns the workload of a candidate, a new one if there is none.
func (c *Core) workloadOf(of *Candidate) *workload {
	n := c.namespaces[of.Namespace]
	if n == nil {
		n = &namespace{
			name: of.Namespace, workloads: map[uint64]*workload{}, lines: map[*class]*line{}, served: c.nextSerial(),
		}
		c.namespaces[n.name] = n
	}
	w := n.workloads[of.LabelHash]
	if w == nil {
		w = &workload{hash: of.LabelHash, namespace: n, served: c.nextSerial()}
		n.workloads[w.hash] = w
		n.speeds[w.speed]++
	}
	return w
}

func (c *Core) nextSerial() uint64 {
	c.serial++
	return c.serial
}

// refresh arranges the lines of a workload's namespace after calls of the workload have changed, or its speed has.
func (c *Core) refresh(now time.Time, w *workload) {
	n := w.namespace
	wasSlow := n.speed() == slow
	n.speeds[w.speed]--
	w.speed = c.speedOf(now, w)
	n.speeds[w.speed]++
	for _, l := range n.lines {
		if wasSlow != (n.speed() == slow) {
			l.regroup()
		} else if g := l.groups[w]; g != nil {
			l.place(g)
		}
		l.arrange()
	}
	c.forgetIdle(w)
}

// forgetIdle drops a workload that is not in use and tells nothing, and its namespace with the last workload.
func (c *Core) forgetIdle(w *workload) {
	n := w.namespace
	if w.waiting+w.calls > 0 || w.speed != unknown {
		return
	}
	delete(n.workloads, w.hash)
	if n.speeds[w.speed]--; len(n.workloads) == 0 {
		delete(c.namespaces, n.name)
	}
}

// expire takes in the speeds that have changed by time alone.
func (c *Core) expire(now time.Time) {
	for w, ok := c.expiries.First(); ok && !w.until.After(now); w, ok = c.expiries.First() {
		c.expiries.Remove(w)
		c.refresh(now, w)
	}
}
