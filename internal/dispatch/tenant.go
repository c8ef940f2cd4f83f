package dispatch

import "time"

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
)

// share decides whose turn it is between namespaces, and between the workloads of one of them.
type share struct {
	calls  [2]int // under way, by the kind of their places
	served uint64 // serial number of the last call, or of the creation
}

// before reports whether it is the turn of this share before that of the other share, in that kind of place.
func (s *share) before(other *share, k kind) bool {
	if s.calls[k] != other.calls[k] {
		return s.calls[k] < other.calls[k]
	}
	return s.served < other.served
}

// allCalls returns the number of calls under way in all places.
func (s *share) allCalls() int { return s.calls[slot] + s.calls[slowPlace] }

// namespace is what is known of a namespace. It exists while it has workloads.
type namespace struct {
	share
	name      string
	workloads map[uint64]*workload
	speeds    [3]int // number of workloads by their speed
	lines     map[*class]*line
	probes    int // calls of unknown workloads in slots that started while the namespace was slow

	slowCalls  int // under way
	quickCalls int // since the last slow call ended
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

// workload is what is known of a workload of a namespace. It exists while it has candidates or calls, or is remembered.
type workload struct {
	share
	hash      uint64
	namespace *namespace
	waiting   int // candidates

	speed                 speed // as of the last refresh
	slowCalls             int   // under way
	slowUntil, quickUntil time.Time
}

// expiry is a moment until which a call is remembered.
type expiry struct {
	at       time.Time
	workload *workload
}

// startsSlow reports whether the candidates of the workload start in slow places, besides a probe.
func (w *workload) startsSlow() bool { return w.namespace.speed() == slow && w.speed != quick }

// turnSlow takes in that a call under way is slow.
func (w *workload) turnSlow() {
	w.slowCalls++
	w.namespace.slowCalls++
}

// slowEnded takes in the end of a slow call.
func (c *Core) slowEnded(now time.Time, w *workload) {
	w.slowCalls--
	w.namespace.slowCalls--
	w.namespace.quickCalls = 0
	w.slowUntil = now.Add(remembered)
	c.expiries = append(c.expiries, expiry{w.slowUntil, w})
}

// answered takes in a call that admission has answered within SlowAfter.
func (c *Core) answered(now time.Time, w *workload) {
	w.namespace.quickCalls++
	w.quickUntil = now.Add(remembered)
	c.expiries = append(c.expiries, expiry{w.quickUntil, w})
}

// learn sets the speed of the workload.
func (w *workload) learn(now time.Time) {
	is := unknown
	switch {
	case w.slowCalls > 0 || now.Before(w.slowUntil):
		is = slow
	case now.Before(w.quickUntil):
		is = quick
	}
	w.namespace.speeds[w.speed]--
	w.namespace.speeds[is]++
	w.speed = is
}

// takeAsRecovered forgets the slow calls of a namespace once enough calls in a row were quick.
func (c *Core) takeAsRecovered(now time.Time, n *namespace) {
	if n.quickCalls < recovered || n.slowCalls > 0 || n.speeds[slow] == 0 {
		return
	}
	for _, w := range n.workloads {
		if w.speed == slow {
			w.slowUntil = now
			c.refresh(now, w)
		}
	}
}

// workloadOf returns the workload of a candidate, a new one if there is none.
func (c *Core) workloadOf(of *Candidate) *workload {
	n := c.namespaces[of.Namespace]
	if n == nil {
		n = &namespace{name: of.Namespace, workloads: map[uint64]*workload{}, lines: map[*class]*line{}}
		n.served = c.nextSerial()
		c.namespaces[n.name] = n
	}
	w := n.workloads[of.Workload]
	if w == nil {
		w = &workload{hash: of.Workload, namespace: n}
		w.served = c.nextSerial()
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
	was := n.speed()
	w.learn(now)
	if is := n.speed(); is != was && (is == slow || was == slow) {
		c.regroup(n)
	}
	for _, l := range n.lines {
		if g := l.groups[w]; g != nil {
			l.place(g)
		}
		l.arrange()
	}
	c.forgetIdle(w)
}

// forgetIdle drops a workload that is not in use and tells nothing, and its namespace with the last workload.
func (c *Core) forgetIdle(w *workload) {
	n := w.namespace
	if w.waiting+w.allCalls() > 0 || w.speed != unknown {
		return
	}
	delete(n.workloads, w.hash)
	if n.speeds[w.speed]--; len(n.workloads) == 0 {
		delete(c.namespaces, n.name)
	}
}

// expire takes in the speeds that have changed by time alone. It drops the moments that later calls have replaced.
func (c *Core) expire(now time.Time) {
	for len(c.expiries) > 0 {
		at, w := c.expiries[0].at, c.expiries[0].workload
		counts := at.Equal(w.slowUntil) || at.Equal(w.quickUntil)
		if counts && at.After(now) {
			return
		}
		c.expiries[0] = expiry{} // the array may live on, and would keep the workload
		if c.expiries = c.expiries[1:]; len(c.expiries) == 0 {
			c.expiries = nil
		}
		if counts && w.namespace.workloads[w.hash] == w { // not forgotten since
			c.refresh(now, w)
		}
	}
}
