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
	stage stage
	plan  plan
	due   time.Time // earliest start of the next call
	calls *calls    // nil before the first call has ended

	evaluation time.Time // when the pod is judged next if nothing happens before
	pos        int       // in Core.timed

	heldBy policy.Held // in the stage held
}

// stage is what the core does with an entry. What others see is its [eviction.State].
type stage uint8

const (
	none      stage = iota // not an entry of the core
	held                   // something holds the pod, and no other taint evicts it
	waiting                // for its deadline, or for the end of its backoff
	offered                // to the dispatcher: it waits for its turn, or a call is in flight
	callEnded              // the call has ended, and the pod is not judged again yet
	accepted               // the API server accepted the deletion: no further call
	dryRun                 // a dry run has logged the call: no further call while the pod stays due
)

// plan is the eviction as it was last decided or carried out.
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

// setStage changes the stage of an entry, or adds or drops it.
func (c *Core) setStage(e *entry, s stage) {
	if e.stage == waiting {
		c.scheduled--
	}
	if s == waiting {
		c.scheduled++
	}
	if e.stage = s; s == none {
		deleteAndShrink(&c.entries, e.uid)
	} else {
		c.entries[e.uid] = e
	}
	c.timed.Remove(e)
}

// deleteAndShrink deletes the pod from the map, and replaces an empty map to free its memory: Go's maps never shrink,
// and a burst may have filled this one with every pod of the cluster.
func deleteAndShrink[V any](pods *map[types.UID]V, uid types.UID) {
	if len(*pods) == 0 {
		return
	}
	delete(*pods, uid)
	if len(*pods) == 0 {
		*pods = map[types.UID]V{}
	}
}

// reschedule sets the time of an entry's next evaluation; zero sets none.
func (c *Core) reschedule(e *entry, at time.Time) {
	e.evaluation = at
	c.timed.Include(e, !at.IsZero())
}

// withdraw takes the eviction back from the dispatcher. It returns false if a call is in flight; the outcome follows.
func (c *Core) withdraw(e *entry) bool {
	if e.stage == offered {
		if !c.options.Dispatcher.Withdraw(e.uid) {
			c.reschedule(e, time.Time{})
			return false
		}
		c.setStage(e, waiting)
	}
	return true
}

// offer offers the eviction to the dispatcher with the permitted requests. If a call is in flight, its end re-evaluates
// the pod.
func (c *Core) offer(pod *taint.Pod, node *taint.Node, e *entry, permits []policy.Permit) {
	candidate := dispatch.Candidate{
		Pod: pod, Deadline: permits[0].Action.At, NodeLabels: node.Labels, Own: c.options.Own(pod),
	}
	for i := range permits {
		candidate.Requests = append(candidate.Requests, c.request(pod, e, &permits[i]))
	}
	c.options.Dispatcher.Offer(candidate)
	c.setStage(e, offered)
}

// request returns the request that the permit allows.
func (c *Core) request(pod *taint.Pod, e *entry, permit *policy.Permit) eviction.Request {
	r := eviction.Request{
		Pod: pod, Verdict: permit.Action.Verdict, Method: permit.Method, Policy: permit.Action.Policy,
		Attempt: 1, First: true, Released: c.holds[pod.UID].ended,
		GracePeriodSeconds: policy.GracePeriodSeconds(pod.GracePeriodSeconds, permit.Action.GracePeriod),
	}
	if ended := c.holds[pod.UID].ended; !ended.IsZero() && !permit.Action.At.After(ended) {
		r.LateBy = eviction.LateByHold
	}
	if prior := e.calls; prior != nil {
		r.Attempt, r.First = prior.attempts+1, prior.method != permit.Method
		r.AfterRefusal, r.RefusedSince = prior.refused, prior.RefusedSince
		if prior.deadline.Equal(permit.Action.At) {
			r.LateBy = cmp.Or(prior.lateBy, r.LateBy)
		}
	}
	if c.options.EvictorChooses && r.Policy == "" {
		r.Method = ""
	}
	return r
}
