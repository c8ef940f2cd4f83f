package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/taint"
)

// Views returns a view of each eviction and of each pod that is held, in no order. It takes time in proportion to their
// number, and is for display, not for decisions.
func (c *Core) Views(now time.Time) []eviction.View {
	views := make([]eviction.View, 0, c.Scheduled()+len(c.calls)+len(c.held))
	queued := func(e evictionqueue.Entry[why], v eviction.View) {
		if pod, node := c.reader.Pod(e.UID); pod != nil {
			last := c.calls[e.UID]
			method, planned := c.planned(e, last)
			v.Pod, v.Verdict, v.Policy, v.Method, v.Next = pod, planned.Verdict, planned.Policy, method, later(e.At, v.Next)
			c.describe(&v, node, last, now)
			views = append(views, last.view(v, now))
		}
	}
	for e := range c.queue.All() {
		if c.rates.waiting[e.UID] == nil {
			queued(e, eviction.View{})
		}
	}
	for e := range c.slow.all() {
		queued(e, eviction.View{SlowPlace: true})
	}
	for _, w := range c.rates.waiting {
		queued(w.entry, eviction.View{WaitsForRate: w.class.wait.Rate, Next: w.next()})
	}
	for uid, last := range c.calls {
		if pod := c.awaited(uid, last); pod != nil {
			v := eviction.View{Pod: pod, Verdict: last.action.Verdict, Policy: last.action.Policy, Method: last.method}
			views = append(views, last.view(v, now))
		}
	}
	for uid := range c.held {
		if v, ok := c.heldView(uid); ok {
			views = append(views, v)
		}
	}
	return views
}

// describe adds what policies and holds say of an eviction that waits.
func (c *Core) describe(v *eviction.View, node *taint.Node, last *call, now time.Time) {
	if c.decider.Plain() {
		return
	}
	verdict := c.decider.Decide(v.Pod, node)
	v.Held = verdict.Held
	_, first := verdict.Earliest()
	if first == nil {
		return // the cache is ahead of the queue
	}
	v.Verdict, v.Policy, v.Method = first.Verdict, first.Policy, last.next(&verdict, now).method
	if !verdict.Evict.Evict || !verdict.Delete.Evict {
		return
	}
	v.DeleteAt = verdict.Delete.At
	if deletion := last.deletion(&verdict); deletion.action != nil {
		v.DeleteAt = deletion.at
	}
}

// heldView returns the view of a pod that is held; false if it is gone, or no longer held by the cache.
func (c *Core) heldView(uid types.UID) (eviction.View, bool) {
	pod, node := c.reader.Pod(uid)
	if pod == nil {
		return eviction.View{}, false
	}
	held := c.decider.Decide(pod, node).Held
	return eviction.View{
		Pod: pod, Verdict: held.Verdict, State: eviction.Scheduled, Policy: held.Policy, Held: held,
	}, held.By != 0
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
	if !v.Next.After(now) || v.WaitsForRate != "" {
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
	case !c.action.At.After(now):
		v.State = eviction.Due
	}
	return v
}
