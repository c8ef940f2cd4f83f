package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// isPending returns the state of an entry that is not none.
func (e *entry) isPending(now time.Time) eviction.Pending {
	switch {
	case e.state == held:
		return eviction.PendingHeld
	case e.state == accepted, e.state == dryRun:
		return eviction.PendingTerminating
	case e.state == scheduled && e.plan.verdict.At.After(now):
		return eviction.PendingScheduled
	case e.calls != nil && e.calls.delayed():
		return e.calls.outcome.Obstacle()
	}
	return eviction.PendingDue
}

// count counts an entry in this state, and no longer in its last one; 0 counts it in none.
func (c *Core) count(e *entry, as eviction.Pending) {
	if e.pending == as {
		return
	}
	if e.pending != 0 {
		c.pending[e.pending]--
	}
	if e.pending = as; as != 0 {
		c.pending[as]++
	}
	if as == 0 || as == eviction.PendingScheduled {
		delete(c.unscheduled, e.uid)
	} else {
		c.unscheduled[e.uid] = e
	}
}

// Oldest returns the earliest deadline of each state but scheduled. It takes time in proportion to the number of
// entries in these states, and asks the dispatcher once what those wait for that are offered.
func (c *Core) Oldest() (oldest eviction.PendingTimes) {
	var waiting []types.UID
	for uid, e := range c.unscheduled {
		if e.pending == eviction.PendingDue && e.state == offered {
			waiting = append(waiting, uid)
		} else {
			oldest.Take(e.pending, e.plan.verdict.At)
		}
	}
	for i, waits := range c.options.Dispatcher.WaitsOf(waiting) {
		oldest.Take(waits.Pending(), c.unscheduled[waiting[i]].plan.verdict.At)
	}
	return oldest
}
