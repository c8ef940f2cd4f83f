package shard

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/ordered"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// entry is the eviction of one pod.
type entry struct {
	uid   types.UID
	state state
	plan  plan
	due   time.Time // when the next call may start at the earliest
	calls *calls    // nil before the first call has ended

	evaluation time.Time // when the pod is judged next, if nothing else happens before
	pos        int       // in Core.timed

	heldBy policy.Held // in the state held
}

// state is the progress of an eviction.
type state uint8

const (
	none      state = iota // not an entry of the core
	held                   // something holds the pod, and it has no other reason to go
	scheduled              // waits for its time
	offered                // waits for its turn, or a call is under way
	called                 // the call has ended, and the pod is not judged again yet
	accepted               // the API server took the deletion: no further call
	dryRun                 // dry run: as if accepted, while the pod stays due
)

// plan is the eviction as it was last decided on or carried out.
type plan struct {
	method  policy.Method
	policy  string
	verdict taint.Verdict
}

func newTimed() ordered.Queue[*entry] {
	before := func(a, b *entry) bool {
		return cmp.Or(a.evaluation.Compare(b.evaluation), cmp.Compare(a.uid, b.uid)) < 0
	}
	return ordered.New(before, func(e *entry) *int { return &e.pos })
}

// become changes the state of an entry, or adds or drops it.
func (c *Core) become(e *entry, s state) {
	if e.state == scheduled {
		c.scheduled--
	}
	if s == scheduled {
		c.scheduled++
	}
	if e.state = s; s == none {
		forget(&c.entries, e.uid)
	} else {
		c.entries[e.uid] = e
	}
	if s != scheduled && s != offered {
		c.timed.Remove(e)
	}
}

// forget deletes the pod from the map. An empty map gives its memory back: Go's maps never shrink, and a burst may
// have filled it with every pod of the cluster.
func forget[V any](pods *map[types.UID]V, uid types.UID) {
	delete(*pods, uid)
	if len(*pods) == 0 {
		*pods = map[types.UID]V{}
	}
}

// reschedule arranges for the next evaluation of an entry; zero arranges for none.
func (c *Core) reschedule(e *entry, at time.Time) {
	e.evaluation = at
	c.timed.Include(e, !at.IsZero())
}

// withdraw takes the eviction back from the dispatcher. It reports false if a call is under way: then the outcome
// follows.
func (c *Core) withdraw(e *entry) bool {
	if e.state == offered {
		if !c.options.Dispatcher.Withdraw(e.uid) {
			c.reschedule(e, time.Time{})
			return false
		}
		c.become(e, scheduled)
	}
	return true
}

// offer offers the eviction to the dispatcher by these ways. If a call is under way, the pod is judged again at its
// end.
func (c *Core) offer(pod *taint.Pod, node *taint.Node, e *entry, ways []policy.Way) {
	candidate := dispatch.Candidate{
		Pod: pod, Deadline: ways[0].Action.At, NodeLabels: node.Labels, Own: c.options.Own(pod),
	}
	for i := range ways {
		candidate.Ways = append(candidate.Ways, c.request(pod, e, &ways[i]))
	}
	c.options.Dispatcher.Offer(candidate)
	c.become(e, offered)
}

// request returns the request that carries a way out.
func (c *Core) request(pod *taint.Pod, e *entry, way *policy.Way) eviction.Request {
	r := eviction.Request{
		Pod: pod, Verdict: way.Action.Verdict, Method: way.Method, Policy: way.Action.Policy, Attempt: 1, First: true,
		Released:           c.releases[pod.UID].ended,
		GracePeriodSeconds: policy.GracePeriodSeconds(pod.GracePeriodSeconds, way.Action.GracePeriod),
	}
	if ended := c.releases[pod.UID].ended; !ended.IsZero() && !way.Action.At.After(ended) {
		r.LateBy = eviction.LateByHold
	}
	if met := e.calls; met != nil {
		r.Attempt, r.First = met.attempts+1, met.method != way.Method
		r.AfterRefusal, r.RefusedSince = met.refused, met.RefusedSince
		if met.deadline.Equal(way.Action.At) {
			r.LateBy = cmp.Or(met.lateBy, r.LateBy)
		}
	}
	if c.options.OwnMethod && r.Policy == "" {
		r.Method = ""
	}
	return r
}
