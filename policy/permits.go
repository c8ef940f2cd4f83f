package policy

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/taint"
)

// Permit permits one request for a pod.
type Permit struct {
	Method Method
	Action Action // because of which the request may be sent

	// At is when the request may be sent at the earliest: the deadline of the action, or the end of a later wait.
	At time.Time
}

// String describes the permit: "Delete by policy drain, with a grace period of at most 1m0s, because of the taint k".
func (p *Permit) String() string {
	s := string(p.Method)
	if p.Action.Policy != "" {
		s += " by policy " + p.Action.Policy
	}
	if p.Action.GracePeriod > 0 {
		s += ", with a grace period of at most " + p.Action.GracePeriod.String()
	}
	return s + ", because of the taint " + p.Action.Taint.Key
}

// Calls summarizes the results of this process's calls for a pod.
type Calls struct {
	// RefusedSince is when a request to evict the pod was first refused; zero if none was.
	RefusedSince time.Time

	// RequestNotBefore is the earliest time of the next request to evict the pod, and DeleteNotBefore is the earliest
	// time of its deletion. Zero means no wait.
	RequestNotBefore, DeleteNotBefore time.Time
}

// Permits returns the permits for the requests that may be sent for the pod now, the preferred one first. next is when
// the result changes with time alone; zero if it does not. With rates, there is one permit for each taint that evicts
// the pod now, so that one taint's rate does not delay evictions for another taint. Without rates, there is at most
// one.
func (j Judge) Permits(pod *taint.Pod, node *taint.Node, c Calls, now time.Time) (permits []Permit, next time.Time) {
	for {
		verdict := j.Decide(pod, node)
		permit, changes := verdict.permit(c, now)
		next = sooner(next, changes)
		if permit.Method == "" {
			return permits, next
		}
		permits = append(permits, permit)
		if len(j.set().config.Guards.Rates) == 0 {
			return permits, next
		}
		node = node.Without(permit.Action.Taint.Key)
	}
}

// permit returns the permit for the request that may be sent now; its method is empty if none may. If request and
// deletion are both due, it permits the deletion, so the wait after a refused request does not delay it.
func (v *Verdict) permit(c Calls, now time.Time) (permit Permit, next time.Time) {
	deletion, deleteAt := v.DeletionAfter(c)
	if deletion != nil && !deleteAt.After(now) {
		return Permit{Delete, *deletion, deleteAt}, time.Time{}
	}
	if deletion != nil {
		next = deleteAt
	}
	if !v.Request.Evict {
		return Permit{}, next
	}
	requestAt := later(v.Request.At, c.RequestNotBefore)
	if requestAt.After(now) {
		return Permit{}, sooner(next, requestAt)
	}
	return Permit{Evict, v.Request, requestAt}, next
}

// DeletionAfter returns the next deletion after these calls, and when it may start; nil if there is none. deleteAfter
// applies only after a refused request.
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

// sooner returns the earlier of two moments; zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Sent is the request of a call in flight.
type Sent struct {
	Method             Method // empty: the code that makes the call chooses it
	Policy             string
	GracePeriodSeconds *int64 // nil: the pod's own
	TaintKey           string
}

// Covers reports whether the permit covers the request of a call for this pod: method, policy, grace period and taint
// are the same. The taint matters: it decided from which rates the call took tokens.
func (p *Permit) Covers(pod *taint.Pod, s Sent) bool {
	grace := GracePeriodSeconds(pod.GracePeriodSeconds, p.Action.GracePeriod)
	return ptr.Equal(grace, s.GracePeriodSeconds) && (s.Method == "" || s.Method == p.Method) &&
		s.Policy == p.Action.Policy && s.TaintKey == p.Action.Taint.Key
}
