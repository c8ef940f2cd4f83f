package policy

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/taint"
)

// Way is a request that may be sent for a pod, and the action that permits it.
type Way struct {
	Method Method
	Action Action

	// At is when the request may be sent at the earliest: the deadline of the action, or the end of a later wait.
	At time.Time
}

// String describes the way: "Delete by policy drain, with a grace period of at most 1m0s, because of the taint k".
func (w *Way) String() string {
	s := string(w.Method)
	if w.Action.Policy != "" {
		s += " by policy " + w.Action.Policy
	}
	if w.Action.GracePeriod > 0 {
		s += ", with a grace period of at most " + w.Action.GracePeriod.String()
	}
	return s + ", because of the taint " + w.Action.Taint.Key
}

// Calls summarizes the results of this process's calls for a pod.
type Calls struct {
	// RefusedSince is when a request to evict the pod was first refused; zero if none was.
	RefusedSince time.Time

	// RequestNotBefore is when the next request to evict the pod may be sent, and DeleteNotBefore when a deletion may
	// be sent. Zero stands for no wait.
	RequestNotBefore, DeleteNotBefore time.Time
}

// Ways returns the requests that may be sent for the pod now, the preferred request first. next is when the result
// changes if nothing else happens; zero if time alone does not change it. With rates, the result has a way for each
// taint because of which the pod is to go now: a rate that counts one taint does not delay the eviction because of
// another taint. Without rates, it has one way at most.
func (j Judge) Ways(pod *taint.Pod, node *taint.Node, c Calls, now time.Time) (ways []Way, next time.Time) {
	for {
		verdict := j.Decide(pod, node)
		way, changes := verdict.way(c, now)
		next = sooner(next, changes)
		if way.Method == "" {
			return ways, next
		}
		ways = append(ways, way)
		if len(j.set().config.Guards.Rates) == 0 {
			return ways, next
		}
		node = node.Without(way.Action.Taint.Key)
	}
}

// way returns the request that may be sent now; its method is empty if no request may be sent. If both actions are due,
// it returns the deletion, so the wait after a refused request does not delay the deletion.
func (v *Verdict) way(c Calls, now time.Time) (way Way, next time.Time) {
	deletion, deleteAt := v.DeletionAfter(c)
	if deletion != nil && !deleteAt.After(now) {
		return Way{Delete, *deletion, deleteAt}, time.Time{}
	}
	if deletion != nil {
		next = deleteAt
	}
	if !v.Request.Evict {
		return Way{}, next
	}
	requestAt := later(v.Request.At, c.RequestNotBefore)
	if requestAt.After(now) {
		return Way{}, sooner(next, requestAt)
	}
	return Way{Evict, v.Request, requestAt}, next
}

// DeletionAfter returns the next deletion after these calls, and when it may start. It returns nil if no deletion is to
// come. deleteAfter applies only after a refused request.
func (v *Verdict) DeletionAfter(c Calls) (*Action, time.Time) {
	switch {
	case !v.Delete.Evict:
		return nil, time.Time{}
	case v.Delete.RefusedFor == 0:
		return &v.Delete, later(v.Delete.At, c.DeleteNotBefore)
	}
	var first *Action
	var at time.Time
	if !c.RefusedSince.IsZero() {
		first, at = &v.Delete, later(v.Delete.At, c.RefusedSince.Add(v.Delete.RefusedFor))
	}
	if v.Unconditional.Evict && (first == nil || v.Unconditional.At.Before(at)) {
		first, at = &v.Unconditional, v.Unconditional.At
	}
	return first, later(at, c.DeleteNotBefore)
}

// sooner returns the earlier of two moments; zero stands for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Sent is the request of a call under way.
type Sent struct {
	Method             Method // empty: the evictor's own
	Policy             string
	GracePeriodSeconds *int64 // nil: the pod's own
	TaintKey           string
}

// Permits reports whether the way still permits the request of a call for this pod: by the same method and policy, with
// the same grace period, and because of the same taint, which the rates have counted.
func (w *Way) Permits(pod *taint.Pod, s Sent) bool {
	grace := GracePeriodSeconds(pod.GracePeriodSeconds, w.Action.GracePeriod)
	return ptr.Equal(grace, s.GracePeriodSeconds) && (s.Method == "" || s.Method == w.Method) &&
		s.Policy == w.Action.Policy && s.TaintKey == w.Action.Taint.Key
}
