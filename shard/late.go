package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// lateness is what has kept a pod from going until a moment.
type lateness struct {
	by    eviction.LateBy
	until time.Time
}

// lateBy returns what explains that the call for an action starts later than its deadline; empty if nothing does.
func (c *Core) lateBy(uid types.UID, a *policy.Action) eviction.LateBy {
	switch late, ok := c.late[uid]; {
	case ok && !a.At.After(late.until):
		return late.by
	case a.At.Before(c.resumed):
		return eviction.LateByHold
	}
	return ""
}

// unhold ends the hold of a pod that is to go.
func (c *Core) unhold(now time.Time, uid types.UID) {
	if _, held := c.held[uid]; held {
		delete(c.held, uid)
		c.late[uid] = lateness{eviction.LateByHold, now}
	}
}
