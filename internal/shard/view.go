package shard

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/taint"
)

// Views returns a view of each eviction, of each held pod, and of each pod that the DaemonSet controller deletes, in no
// order. It takes time linear in their number, and is for display, not for decisions.
func (c *Core) Views(now time.Time) []eviction.View {
	views, _ := c.Earliest(now, len(c.entries))
	return views
}

// Earliest is like Views, but returns at most the given number (at least 1) of evictions: those with the earliest
// deadlines. left counts the others: unless it is 0, Earliest omits pods that only the DaemonSet controller deletes.
func (c *Core) Earliest(now time.Time, most int) (views []eviction.View, left int) {
	c.judge = c.options.Judge()
	entries := c.earliest(most)
	views, left = make([]eviction.View, 0, len(entries)), len(c.entries)-len(entries)
	for _, e := range entries {
		if v, exists := c.viewOf(now, e); exists {
			views = append(views, v)
		}
	}
	if left > 0 {
		return views, left
	}
	for uid := range c.daemons {
		if pod, node := c.options.Reader.Pod(uid); pod != nil {
			if v := c.deletedByOthers(&entry{}, eviction.View{Pod: pod}, node); v.DeletedBy != "" {
				views = append(views, v)
			}
		}
	}
	return views, 0
}

// View returns the view of one pod's eviction, or of its hold; false if there is none.
func (c *Core) View(now time.Time, uid types.UID) (v eviction.View, exists bool) {
	c.judge = c.options.Judge()
	if e := c.entries[uid]; e != nil {
		return c.viewOf(now, e)
	}
	return v, false
}

func (c *Core) viewOf(now time.Time, e *entry) (v eviction.View, exists bool) {
	pod, node := c.options.Reader.Pod(e.uid)
	if pod == nil {
		return v, false
	}
	if e.stage != held {
		return c.deletedByOthers(e, c.view(now, e, pod, node), node), true
	}
	by := c.judgeOf(e.uid).Decide(pod, node).Held
	return c.deletedByOthers(e, eviction.View{
		Pod: pod, Verdict: by.Verdict, State: eviction.StateHeld, Policy: by.Policy, Held: by,
	}, node), by.By != 0
}

// earliest returns the entries with the earliest deadlines, at most the given number, in no order.
func (c *Core) earliest(most int) (list []*entry) {
	if len(c.entries) <= most {
		return slices.Collect(maps.Values(c.entries))
	}
	var bound time.Time // at least `most` entries have this deadline or an earlier one; zero before the first sort
	for _, e := range c.entries {
		if !bound.IsZero() && !e.deadline().Before(bound) {
			continue
		}
		if list = append(list, e); len(list) >= 2*most {
			list = sortedByDeadline(list)[:most]
			bound = list[most-1].deadline()
		}
	}
	if len(list) > most {
		list = sortedByDeadline(list)[:most]
	}
	return list
}

func sortedByDeadline(list []*entry) []*entry {
	slices.SortFunc(list, func(a, b *entry) int { return a.deadline().Compare(b.deadline()) })
	return list
}

// deadline returns the deadline. A held entry has the deadline that it would have without the hold.
func (e *entry) deadline() time.Time {
	if e.stage == held {
		return e.heldBy.Verdict.At
	}
	return e.plan.verdict.At
}

// view returns the view of an eviction.
func (c *Core) view(now time.Time, e *entry, pod *taint.Pod, node *taint.Node) eviction.View {
	var status dispatch.Status
	if e.stage == offered {
		status = c.options.Dispatcher.Status(e.uid)
	}
	planned := e.plan
	if status.Request != nil {
		planned = c.planOf(status.Request)
	}
	v := eviction.View{Pod: pod, Verdict: planned.verdict, Policy: planned.policy, Method: planned.method}
	if e.calls != nil {
		v.Attempts, v.Last = e.calls.attempts, e.calls.outcome
	}
	if status.Request != nil {
		v.State, v.Attempts = eviction.StateInFlight, status.Request.Attempt
		return v
	}
	if v.State = e.state(now); v.State == eviction.StateTerminating {
		return v
	}
	v.Waits, v.Next = status.Waits, e.next(status)
	c.describe(&v, node, e, now)
	return v
}

// next returns when the next call of an offered eviction may start, as far as known. While it waits for a rate, the
// next evaluation may permit a request that needs no token of that rate.
func (e *entry) next(status dispatch.Status) time.Time {
	until := status.Until
	if status.Waits.Cause == eviction.WaitsForRate && !e.evaluation.IsZero() && e.evaluation.Before(until) {
		until = e.evaluation
	}
	return later(e.due, until)
}

// describe adds to the view of a waiting eviction what policies and holds decide.
func (c *Core) describe(v *eviction.View, node *taint.Node, e *entry, now time.Time) {
	if c.judge.Plain() {
		return
	}
	judge := c.judgeOf(v.Pod.UID)
	verdict := judge.Decide(v.Pod, node)
	v.Held = verdict.Held
	method, first := verdict.Earliest()
	if first == nil {
		return // the cache is newer than the shard's state
	}
	v.Verdict, v.Policy, v.Method = first.Verdict, first.Policy, method
	if permits, _ := judge.Permits(v.Pod, node, e.policyCalls(), later(e.due, now)); len(permits) > 0 {
		v.Method = permits[0].Method
	}
	if verdict.Request.Evict && verdict.Delete.Evict {
		v.DeleteAt = verdict.Delete.At
		if deletion, at := verdict.DeletionAfter(e.policyCalls()); deletion != nil {
			v.DeleteAt = at
		}
	}
}

// later returns the later of two moments.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
