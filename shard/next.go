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

// deletion returns the next deletion; its action is nil if none is to come. deleteAfter applies only after a refused
// request.
func (c *call) deletion(v *policy.Verdict) nextCall {
	var met policy.Calls
	if c != nil {
		met = policy.Calls{RefusedSince: c.refusedSince, RequestNotBefore: c.notBefore, DeleteNotBefore: c.noDeleteBefore}
	}
	action, at := v.DeletionAfter(met)
	return nextCall{policy.Delete, action, at}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
