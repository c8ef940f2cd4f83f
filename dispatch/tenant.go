package dispatch

import (
	"time"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

// kind is a kind of place.
type kind uint8

const (
	slot kind = iota
	slowPlace
)

// share decides whose turn it is between namespaces, and between the workloads of one of them.
type share struct {
	calls  [2]int // under way, by the kind of their places
	served uint64 // serial number of the last call, or of the creation
	memory
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

// namespace is what is known of a namespace. It exists while it has candidates, calls, or a memory.
type namespace struct {
	share
	name      string
	workloads map[uint64]*workload
	lines     map[*class]*line
	waiting   int
	isSlow    bool // as its lines are arranged
	probes    int  // calls of unknown workloads in slots, while the namespace is slow
	expiry    expiry
}

// workload is what is known of a workload of a namespace. It exists as long as a namespace does.
type workload struct {
	share
	hash      uint64
	namespace *namespace
	groups    map[*line]*group // empty unless the namespace is slow
	waiting   int
	expiry    expiry
}

// inUse reports whether the workload has candidates or calls.
func (w *workload) inUse() bool { return w.waiting+w.allCalls()+w.slowCalls > 0 }

func (n *namespace) inUse() bool {
	return n.waiting+n.allCalls()+n.slowCalls+len(n.workloads) > 0
}

// expiry is when the memory of a namespace or of a workload next changes by time alone.
type expiry struct {
	at       time.Time
	of       *namespace
	workload *workload // nil for that of the namespace itself
	serial   uint64
	pos      int
}

func newExpiries() ordered.Queue[*expiry] {
	return ordered.New(func(a, b *expiry) bool {
		if c := a.at.Compare(b.at); c != 0 {
			return c < 0
		}
		return a.serial < b.serial
	}, func(e *expiry) *int { return &e.pos })
}

// maxIdle is how many workloads of one namespace are remembered that have neither candidates nor calls.
const maxIdle = 1024

// namespaceOf returns the namespace of that name, a new one if there is none.
func (c *Core) namespaceOf(name string) *namespace {
	n := c.namespaces[name]
	if n == nil {
		n = &namespace{name: name, workloads: map[uint64]*workload{}, lines: map[*class]*line{}}
		n.served = c.nextSerial()
		n.expiry = expiry{of: n, serial: n.served}
		c.namespaces[name] = n
	}
	return n
}

// workloadOf returns the workload of that hash, a new one if there is none.
func (c *Core) workloadOf(n *namespace, hash uint64) *workload {
	w := n.workloads[hash]
	if w == nil {
		w = &workload{hash: hash, namespace: n, groups: map[*line]*group{}}
		w.served = c.nextSerial()
		w.expiry = expiry{of: n, workload: w, serial: w.served}
		n.workloads[hash] = w
	}
	return w
}

func (c *Core) nextSerial() uint64 {
	c.serial++
	return c.serial
}

// remember arranges for the next change of a memory by time alone, and drops what is not in use and tells nothing.
func (c *Core) remember(now time.Time, w *workload) {
	n := w.namespace
	if idle := !w.inUse(); idle && (w.speed(now) == unknown || len(n.workloads) > maxIdle+n.waiting) {
		delete(n.workloads, w.hash)
		c.expiries.Remove(&w.expiry)
	} else {
		c.expire(now, &w.expiry, &w.memory)
	}
	c.expire(now, &n.expiry, &n.memory)
	if !n.inUse() && n.speed(now) == unknown {
		delete(c.namespaces, n.name)
	}
}

func (c *Core) expire(now time.Time, e *expiry, m *memory) {
	e.at = m.changes(now)
	if e.at.IsZero() {
		c.expiries.Remove(e)
		return
	}
	c.expiries.Set(e)
}

// forget takes in the memories that have changed by time alone.
func (c *Core) forget(now time.Time) {
	for {
		e, ok := c.expiries.First()
		if !ok || e.at.After(now) {
			return
		}
		c.expiries.Remove(e)
		if e.workload == nil {
			c.expire(now, e, &e.of.memory)
			c.arrange(now, e.of)
			if !e.of.inUse() && e.of.speed(now) == unknown {
				delete(c.namespaces, e.of.name)
			}
			continue
		}
		c.rank(now, e.workload)
		c.arrange(now, e.of)
		c.remember(now, e.workload)
	}
}
