package shard

import (
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// Pending counts evictions.
type Pending struct {
	Counts map[Class]Count

	// Rates maps the name of a rate to the number of evictions that wait for it.
	Rates map[string]int
}

// Class is a class of evictions that metrics count together. A call in flight does not change the class: its outcome
// does, so State is never in-flight.
type Class struct {
	State eviction.State
	Waits eviction.WaitCause // why a due eviction waits, or why a delayed one does during a pause; empty if unknown
}

// Classes returns all classes.
func Classes() (all []Class) {
	for _, state := range eviction.States() {
		if state != eviction.StateInFlight {
			all = append(all, Class{State: state})
		}
	}
	for _, cause := range eviction.WaitCauses() {
		all = append(all, Class{eviction.StateDue, cause})
	}
	return append(all, Class{eviction.StateDelayed, eviction.WaitsForPause})
}

// Count is the number of evictions of a class, and their earliest deadline, which is zero for scheduled ones.
type Count struct {
	N      int
	Oldest time.Time
}

// Pending counts all evictions and held pods. It asks the dispatcher why the offered evictions wait. During a pause,
// due and delayed evictions wait for its end: nothing else explains why they do not start.
func (c *Core) Pending(now time.Time) Pending {
	all := Pending{map[Class]Count{}, map[string]int{}}
	paused := c.options.Judge().Paused()
	for uid, e := range c.entries {
		class, oldest := Class{State: e.state(now)}, e.plan.verdict.At
		switch due := class.State == eviction.StateDue; {
		case class.State == eviction.StateScheduled:
			oldest = time.Time{}
		case paused && (due || class.State == eviction.StateDelayed):
			class.Waits = eviction.WaitsForPause
		case due && e.stage == offered:
			w := c.options.Dispatcher.Status(uid).Waits
			if class.Waits = w.Cause; w.Rate != "" {
				all.Rates[w.Rate]++
			}
		}
		all.add(class, Count{1, oldest})
	}
	return all
}

// Sum returns the sum of what shards count.
func Sum(shards []Pending) Pending {
	all := Pending{map[Class]Count{}, map[string]int{}}
	for _, p := range shards {
		for class, count := range p.Counts {
			all.add(class, count)
		}
		for rate, n := range p.Rates {
			all.Rates[rate] += n
		}
	}
	return all
}

func (p Pending) add(class Class, more Count) {
	count := p.Counts[class]
	count.N += more.N
	if count.Oldest.IsZero() || !more.Oldest.IsZero() && more.Oldest.Before(count.Oldest) {
		count.Oldest = more.Oldest
	}
	p.Counts[class] = count
}

// state returns the state of the eviction, if no call is in flight.
func (e *entry) state(now time.Time) eviction.State {
	switch {
	case e.stage == held:
		return eviction.StateHeld
	case e.stage == accepted, e.stage == dryRun:
		return eviction.StateTerminating
	case e.stage == waiting && e.plan.verdict.At.After(now):
		return eviction.StateScheduled
	case e.calls != nil && e.calls.stuck():
		return e.calls.outcome.Stuck()
	}
	return eviction.StateDue
}
