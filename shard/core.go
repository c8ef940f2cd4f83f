package shard

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/taint"
)

// why is what the queue keeps of a verdict: the taint, and the toleration that tolerates it for a while.
type why struct {
	taint      *v1.Taint
	toleration *v1.Toleration
}

// Core is the logic of one shard. It is not safe for concurrent use.
type Core struct {
	reader Reader
	rules  taint.Rules
	jitter func() float64
	queue  *evictionqueue.Heap[why]
	slow   slowQueue // due, and waiting for a slow place
	calls  map[types.UID]*call
}

// NewCore returns the logic of a shard that judges by the reader and the rules. jitter returns
// numbers in [0,1); it spreads retries.
func NewCore(reader Reader, rules taint.Rules, jitter func() float64) *Core {
	return newCore(reader, rules, jitter, new(evictionqueue.Heap[why]))
}

func newCore(reader Reader, rules taint.Rules, jitter func() float64, queue *evictionqueue.Heap[why]) *Core {
	return &Core{reader: reader, rules: rules, jitter: jitter, queue: queue, calls: map[types.UID]*call{}}
}

// Scheduled returns how many evictions wait for their time or for a permit.
func (c *Core) Scheduled() int { return c.queue.Len() + c.slow.len() }

// WaitingForSlowPlace returns how many of them are due and wait for a slow place.
func (c *Core) WaitingForSlowPlace() int { return c.slow.len() }

// set puts an entry into the queue. An entry that waits for a slow place stays there while it is due.
func (c *Core) set(now time.Time, e evictionqueue.Entry[why]) {
	if !e.At.After(now) && c.slow.replace(e) {
		return
	}
	c.slow.cancel(e.UID)
	c.queue.Set(e)
}

// cancel removes the entry of that UID, wherever it waits, and returns it.
func (c *Core) cancel(uid types.UID) (evictionqueue.Entry[why], bool) {
	if e, ok := c.queue.Cancel(uid); ok {
		return e, true
	}
	return c.slow.cancel(uid)
}

// get returns the entry of that UID, wherever it waits.
func (c *Core) get(uid types.UID) (evictionqueue.Entry[why], bool) {
	if e, ok := c.queue.Get(uid); ok {
		return e, true
	}
	return c.slow.get(uid)
}

// pop removes and returns the next entry among those that wait for a slot, or for a slow place.
func (c *Core) pop(now time.Time, slowPlace bool) (evictionqueue.Entry[why], bool) {
	if slowPlace {
		return c.slow.pop(now)
	}
	return c.queue.PopDue(now)
}

// entry returns the queue's entry for a verdict that evicts, not to be acted on before notBefore.
func entry(pod *taint.Pod, v taint.Verdict, notBefore time.Time) evictionqueue.Entry[why] {
	at := v.At
	if at.Before(notBefore) {
		at = notBefore
	}
	return evictionqueue.Entry[why]{
		UID: pod.UID, Node: pod.Node, At: at, Priority: pod.Priority,
		Because: why{taint: v.Taint, toleration: v.Toleration},
	}
}

// verdictOf returns the verdict that a queue entry stands for: that of the last call when there was one,
// else its time is the deadline itself.
func verdictOf(e evictionqueue.Entry[why], last *call) taint.Verdict {
	if last != nil {
		return last.verdict
	}
	return taint.Verdict{
		Evict: true, At: e.At, Start: taint.StartOf(e.At, e.Because.toleration), Node: e.Node,
		Taint: e.Because.taint, Toleration: e.Because.toleration,
	}
}
