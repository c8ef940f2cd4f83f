package shard

import (
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// nextCall is the next call for a pod: its method, the action that it carries out, and the time from which it may
// start.
type nextCall struct {
	method policy.Method
	action *policy.Action
	at     time.Time
}

// next returns the next call for a verdict that evicts, at the time now. c may be nil. Of two actions that are due, the
// deletion counts, so the backoff after a refused eviction request does not delay it.
func (c *call) next(v *policy.Verdict, now time.Time) nextCall {
	deletion := c.deletion(v)
	if !v.Evict.Evict || deletion.action != nil && !deletion.at.After(now) {
		return deletion
	}
	request := nextCall{policy.Evict, &v.Evict, v.Evict.At}
	if c != nil {
		request.at = later(request.at, c.notBefore)
	}
	if deletion.action != nil && deletion.at.Before(request.at) {
		return deletion
	}
	return request
}

// deletion returns the next deletion; its action is nil if there is none yet. One by deleteAfter is not there before a
// request has been refused.
func (c *call) deletion(v *policy.Verdict) nextCall {
	if !v.Delete.Evict {
		return nextCall{}
	}
	if v.Delete.RefusedFor == 0 {
		return c.deleting(&v.Delete, v.Delete.At)
	}
	var first nextCall
	if c != nil && !c.refusedSince.IsZero() {
		first = c.deleting(&v.Delete, later(v.Delete.At, c.refusedSince.Add(v.Delete.RefusedFor)))
	}
	if v.Unconditional.Evict && (first.action == nil || v.Unconditional.At.Before(first.at)) {
		return c.deleting(&v.Unconditional, v.Unconditional.At)
	}
	return first
}

// deleting returns the deletion of that time, or of the end of the wait after the last call if that is later.
func (c *call) deleting(a *policy.Action, at time.Time) nextCall {
	if c != nil {
		at = later(at, c.noDeleteBefore)
	}
	return nextCall{policy.Delete, a, at}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
