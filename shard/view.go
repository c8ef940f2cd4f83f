package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/taint"
)

// State says how far an eviction has come.
type State uint8

// The states of an eviction.
const (
	_ State = iota

	// Scheduled: it waits for its deadline.
	Scheduled

	// Due: its deadline has come; it waits for a slot, or for its next try after a failure that may
	// pass.
	Due

	// InFlight: a call is under way.
	InFlight

	// Delayed: it is due, and something is in its way: the last outcome was Blocked or Refused, or
	// others came again and again. It is tried again at Next.
	Delayed

	// Done: the API server took the deletion, or a dry run pretends that it did; the pod is still
	// there.
	Done
)

// View is what is known of one eviction.
type View struct {
	Pod     *taint.Pod
	Verdict taint.Verdict
	State   State

	// Next is when the next call may start; zero when InFlight or Done.
	Next time.Time

	// SlowPlace says that it is due and waits for a slow place, as calls for pods like it are slow.
	SlowPlace bool

	// Attempts is how many calls were made.
	Attempts int

	// Last is the outcome of the last call; its Kind is 0 when none has ended.
	Last Outcome
}

// Views returns what is known of each eviction, in no order. It costs time in proportion to their
// number, and is for people, not for decisions.
func (c *Core) Views(now time.Time) []View {
	views := make([]View, 0, c.Scheduled()+len(c.calls))
	queued := func(e evictionqueue.Entry[why], slowPlace bool) {
		if pod, _ := c.reader.Pod(e.UID); pod != nil {
			last := c.calls[e.UID]
			views = append(views, last.view(View{Pod: pod, Verdict: verdictOf(e, last), Next: e.At, SlowPlace: slowPlace}, now))
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
			views = append(views, last.view(View{Pod: pod, Verdict: last.verdict}, now))
		}
	}
	return views
}

// awaited is the pod of a call that is not in the queue; nil when it is gone.
func (c *Core) awaited(uid types.UID, last *call) *taint.Pod {
	if last.phase == waiting {
		return nil
	}
	pod, _ := c.reader.Pod(uid)
	return pod
}

// view adds what the call tells. There may be no call.
func (c *call) view(v View, now time.Time) View {
	v.State = Scheduled
	if !v.Next.After(now) {
		v.State = Due
	}
	if c == nil {
		return v
	}
	v.Attempts, v.Last = c.attempts, c.outcome
	switch {
	case c.phase == inFlight:
		v.State, v.Next = InFlight, time.Time{}
	case c.phase != waiting:
		v.State, v.Next = Done, time.Time{}
	case c.delayed():
		v.State = Delayed
	case !c.verdict.At.After(now):
		v.State = Due
	}
	return v
}
