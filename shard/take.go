package shard

import (
	"time"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/taint"
)

// take takes the tokens of a call that is due. A rate delays only what it counts: while there are none because of one
// taint, the pod may go because of another one. If no call that is due gets its tokens, take returns for which rate the
// pod waits, and the next call because of another taint, whose time is zero if none is to be expected.
func (c *Core) take(now time.Time, in *Permitted, pod *taint.Pod, node *taint.Node, next nextCall) (nextCall, guard.Wait) {
	var waits guard.Wait
	for next.action != nil && !next.at.After(now) {
		wait := in.take(next.action, node)
		if wait.Rate == "" {
			return next, wait
		}
		waits = either(waits, wait)
		node = node.Without(next.action.Taint.Key)
		verdict := c.decider.Decide(pod, node)
		next = c.calls[pod.UID].next(&verdict, now)
	}
	return next, waits
}

// either returns the wait of an eviction for the tokens of one of two calls: until the earlier end that is known. Only
// those that wait for both wait together.
func either(one, other guard.Wait) guard.Wait {
	if one.Rate == "" || one.Buckets == other.Buckets {
		return other
	}
	buckets := one.Buckets + " or " + other.Buckets
	if one.Until.IsZero() || !other.Until.IsZero() && other.Until.Before(one.Until) {
		one = other
	}
	one.Buckets = buckets
	return one
}
