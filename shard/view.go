package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/taint"
)

// Views returns a view of each eviction, in no order. It takes time in proportion to their number, and is for
// display, not for decisions.
func (c *Core) Views(now time.Time) []eviction.View {
	views := make([]eviction.View, 0, c.Scheduled()+len(c.calls))
	queued := func(e evictionqueue.Entry[why], slowPlace bool) {
		if pod, _ := c.reader.Pod(e.UID); pod != nil {
			last := c.calls[e.UID]
			views = append(views, last.view(eviction.View{Pod: pod, Verdict: verdictOf(e, last), Next: e.At, SlowPlace: slowPlace}, now))
		}
	}
	for e := range c.queue.All() {
		queued(e, false)
	}
	for e := range c.slow.all() {
		queued(e, true)
	}
	for uid, last := range c.calls {
		if pod := c.awaited(uid, last); pod != nil {
			views = append(views, last.view(eviction.View{Pod: pod, Verdict: last.verdict}, now))
		}
	}
	return views
}

// awaited returns the pod of a call that is not in the queue; nil when it is gone.
func (c *Core) awaited(uid types.UID, last *call) *taint.Pod {
	if last.phase == waiting {
		return nil
	}
	pod, _ := c.reader.Pod(uid)
	return pod
}

// view adds the state of the call, which may be nil.
func (c *call) view(v eviction.View, now time.Time) eviction.View {
	v.State = eviction.Scheduled
	if !v.Next.After(now) {
		v.State = eviction.Due
	}
	if c == nil {
		return v
	}
	v.Attempts, v.Last = c.attempts, c.outcome
	switch {
	case c.phase == inFlight:
		v.State, v.Next = eviction.InFlight, time.Time{}
	case c.phase != waiting:
		v.State, v.Next = eviction.Done, time.Time{}
	case c.delayed():
		v.State = eviction.Delayed
	case !c.verdict.At.After(now):
		v.State = eviction.Due
	}
	return v
}
