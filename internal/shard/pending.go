package shard

import (
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// Pending counts the evictions by state, and has the earliest deadline of each state.
type Pending struct {
	Counts eviction.PendingCounts

	// Oldest has the earliest deadline of each state but scheduled.
	Oldest eviction.PendingTimes

	// Rates maps the name of a rate to the number of evictions that wait for it.
	Rates map[string]int
}

// Pending counts all evictions and held pods. It asks the dispatcher why the offered evictions wait.
func (c *Core) Pending(now time.Time) Pending {
	all := Pending{Rates: map[string]int{}}
	for uid, e := range c.entries {
		state := e.pending(now)
		if state == eviction.PendingDue && e.state == offered {
			w := c.options.Dispatcher.Status(uid).Waits
			if state = w.Pending(); w.Rate != "" {
				all.Rates[w.Rate]++
			}
		}
		all.Counts[state]++
		if state != eviction.PendingScheduled {
			all.Oldest.Take(state, e.plan.verdict.At)
		}
	}
	return all
}

// Add adds the evictions of another shard.
func (p *Pending) Add(other Pending) {
	p.Counts.Add(other.Counts)
	for state, at := range other.Oldest {
		p.Oldest.Take(eviction.Pending(state), at)
	}
	for rate, n := range other.Rates {
		p.Rates[rate] += n
	}
}

// pending returns the state in which the entry counts.
func (e *entry) pending(now time.Time) eviction.Pending {
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
