package shard

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// why is what the queue keeps of an action: the taint, and the toleration that tolerates it for a while.
type why struct {
	taint      *v1.Taint
	toleration *v1.Toleration
	more       *more // nil if no policy decides, and the toleration alone sets the deadline
}

// more is what does not follow from an entry's time and its toleration.
type more struct {
	policy string
	method policy.Method
	start  time.Time // of the exposure
}

// Core is the logic of one shard. It is not safe for concurrent use.
type Core struct {
	reader  Reader
	decider policy.Judge
	jitter  func() float64
	queue   *evictionqueue.Heap[why]
	slow    slowQueue // due, and waiting for a slow place
	rates   rateQueue // due, and waiting for a rate
	calls   map[types.UID]*call
	held    map[types.UID]policy.Held // pods that are held, and have no other reason to go
	audited map[types.UID][]audited   // by pod, one for each policy
	late    map[types.UID]lateness    // of pods that a rate or a hold has kept
	resumed time.Time                 // when a pause of all calls last ended

	ownMethod bool // the evictor chooses the method where no policy decides
}

// NewCore returns the logic of a shard that judges pods of the reader. jitter returns numbers in [0,1); it spreads
// retries.
func NewCore(reader Reader, judge policy.Judge, jitter func() float64) *Core {
	return newCore(reader, judge, jitter, new(evictionqueue.Heap[why]))
}

func newCore(reader Reader, judge policy.Judge, jitter func() float64, queue *evictionqueue.Heap[why]) *Core {
	return &Core{
		reader: reader, decider: judge, jitter: jitter, queue: queue,
		calls: map[types.UID]*call{}, held: map[types.UID]policy.Held{}, audited: map[types.UID][]audited{}, late: map[types.UID]lateness{},
	}
}

// Scheduled returns how many evictions wait for their time, for a rate or for a permit.
func (c *Core) Scheduled() int { return c.queue.Len() - c.rates.alarms + c.rates.len() + c.slow.len() }

// Held returns how many pods are held and have no other reason to go.
func (c *Core) Held() int { return len(c.held) }

// WaitingForSlowPlace returns how many of them are due and wait for a slow place.
func (c *Core) WaitingForSlowPlace() int { return c.slow.len() }

// set puts an entry into the queue. An entry that waits for a slow place stays there while it is due; one that waits
// for a rate is tried again, as another rate may count it now.
func (c *Core) set(now time.Time, e evictionqueue.Entry[why]) {
	if !e.At.After(now) && c.slow.replace(e) {
		return
	}
	c.slow.cancel(e.UID)
	c.stopWaitingForRate(e.UID)
	c.queue.Set(e)
}

// cancel removes the entry of that UID, wherever it waits, and returns it.
func (c *Core) cancel(uid types.UID) (evictionqueue.Entry[why], bool) {
	if e, ok := c.stopWaitingForRate(uid); ok {
		return e, true
	}
	if e, ok := c.queue.Cancel(uid); ok {
		return e, true
	}
	return c.slow.cancel(uid)
}

// get returns the entry of that UID, wherever it waits.
func (c *Core) get(uid types.UID) (evictionqueue.Entry[why], bool) {
	if w := c.rates.waiting[uid]; w != nil {
		return w.entry, true
	}
	if e, ok := c.queue.Get(uid); ok {
		return e, true
	}
	return c.slow.get(uid)
}

// pop removes and returns the next entry among those that wait for a slot, or for a slow place. If it has waited for a
// rate, class is the one in which it has waited.
func (c *Core) pop(now time.Time, slowPlace bool) (e evictionqueue.Entry[why], class *rateClass, ok bool) {
	if slowPlace {
		e, ok = c.slow.pop(now)
		return e, nil, ok
	}
	if e, ok = c.queue.PopDue(now); !ok {
		return e, nil, false
	}
	if w := c.rates.remove(e.UID); w != nil {
		c.rates.alarms--
		return w.entry, w.class, true
	}
	return e, nil, true
}

// entry returns the queue's entry for an action that is not to be carried out before that time.
func entry(pod *taint.Pod, method policy.Method, a *policy.Action, at time.Time) evictionqueue.Entry[why] {
	e := evictionqueue.Entry[why]{
		UID: pod.UID, Node: pod.Node, At: at, Priority: pod.Priority,
		Because: why{taint: a.Taint, toleration: a.Toleration},
	}
	if a.Policy != "" || !a.Start.Equal(taint.StartOf(a.At, a.Toleration)) {
		e.Because.more = &more{policy: a.Policy, method: method, start: a.Start}
	}
	return e
}

// planned returns the action that a queue entry stands for, and its method: that of the last call when there was one,
// else the entry's time is the deadline itself.
func (c *Core) planned(e evictionqueue.Entry[why], last *call) (policy.Method, policy.Action) {
	if last != nil {
		return last.method, last.action
	}
	a := policy.Action{Verdict: taint.Verdict{Evict: true, At: e.At, Node: e.Node, Taint: e.Because.taint, Toleration: e.Because.toleration}}
	if more := e.Because.more; more != nil {
		a.Start, a.Policy = more.start, more.policy
		return more.method, a
	}
	a.Start = taint.StartOf(e.At, e.Because.toleration)
	return c.decider.Method(), a
}
