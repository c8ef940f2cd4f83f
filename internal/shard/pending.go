package shard

import (
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// isPending returns the state of an entry that is not none.
func (e *entry) isPending(now time.Time) eviction.Pending {
	switch {
	case e.state == held:
		return eviction.PendingHeld
	case e.state == accepted, e.state == dryRun:
		return eviction.PendingTerminating
	case e.calls != nil && e.calls.delayed():
		return e.calls.outcome.Obstacle()
	case e.state == scheduled && e.plan.verdict.At.After(now):
		return eviction.PendingScheduled
	}
	return eviction.PendingDue
}

// count counts an entry in this state, and no longer in its last one; 0 counts it in none.
func (c *Core) count(e *entry, as eviction.Pending) {
	if e.pending != 0 {
		c.pending[e.pending]--
	}
	if e.pending = as; as != 0 {
		c.pending[as]++
	}
}

// Oldest returns the earliest deadline of each state but scheduled. It takes time in proportion to the number of
// entries, and asks the dispatcher what each eviction waits for that is due.
func (c *Core) Oldest() (oldest eviction.PendingTimes) {
	for uid, e := range c.entries {
		is := e.pending
		if is == eviction.PendingScheduled {
			continue
		}
		if is == eviction.PendingDue && e.state == offered {
			is = c.options.Dispatcher.Status(uid).Waits.Pending()
		}
		oldest.Take(is, e.plan.verdict.At)
	}
	return oldest
}
