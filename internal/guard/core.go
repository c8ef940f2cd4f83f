package guard

import (
	"reflect"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Core computes the facts of verdicts. It is not safe for concurrent use.
type Core struct {
	config     Config
	breakers   *Breakers
	namespaces policy.Namespaces

	leading bool // this process leads

	record  Record
	stored  bool      // the journal has the record
	early   Journaled // the record that was read before Ready
	unknown time.Time // when the leader found that the journal has no record; zero if the record is known

	recorded []TripRecord // the trips of the record that was read last, or that this process made as the leader

	trips   []TripRecord // at the end of the last step
	changed bool         // the judge or the record may have changed although the trips have not
}

// NewCore returns the core of a process that knows neither nodes nor the record yet.
func NewCore(c Config) *Core {
	return &Core{config: c, breakers: NewBreakers(c.Guards.Breakers)}
}

// Judge returns the present judge.
func (c *Core) Judge() policy.Judge {
	return policy.Judge{Set: c.config.Set, Facts: &policy.Facts{
		Namespaces: c.namespaces, Tripped: c.breakers.Tripped(), Paused: c.config.Paused, Holds: c.record.Holds,
	}}
}

// Next returns when [TimePassed] is due if nothing else happens. It returns false if [TimePassed] is not due.
func (c *Core) Next() (time.Time, bool) {
	if !c.breakers.synced {
		return time.Time{}, false
	}
	return c.breakers.Next()
}

// Trips returns the present trips.
func (c *Core) Trips() []TripRecord {
	return slices.DeleteFunc(c.breakers.Trips(), func(t TripRecord) bool { return t.Ended })
}

// Step processes one input at the time now and returns its effects. The time may not go backwards by more than
// clocks do.
func (c *Core) Step(now time.Time, in Input) Effects {
	var do Effects
	switch in := in.(type) {
	case NodesChanged:
		do.Events = c.breakers.Step(now, in.Changes...)
	case NodesListed:
		do.Events = c.breakers.Step(now, slices.Concat(in.Nodes, c.breakers.Missing(in.Nodes))...)
	case TimePassed:
		do.Events = c.breakers.Step(now)
	case NamespacesChanged:
		c.namespaces, c.changed = in.Namespaces, true
	case Reconfigured:
		c.config, c.changed = in.Config, true
		do.Events = c.breakers.Replace(now, in.Guards.Breakers)
	case Ready:
		c.breakers.synced = true
		if !in.Known {
			in.Journaled = c.early // it was believed when it was read
		}
		c.adopt(now, in.Journaled)
		do.Events = c.breakers.Step(now)
	case RecordRead:
		do.Events = c.read(now, in.Record)
	case LeadershipBegan:
		do.Events = c.lead(now, in.Journaled)
	case LeadershipEnded:
		c.leading, c.recorded = false, c.breakers.Trips()
	}
	if !c.leading {
		do.Events = nil // this process holds nothing
	}
	_, reconfigured := in.(Reconfigured)
	c.conclude(now, reconfigured, &do)
	return do
}

// lead begins a leadership. The record of the journal is adopted once all nodes are known. It returns the trips and
// resets to report: a trip that the journal has was reported by the leader that recorded it.
func (c *Core) lead(now time.Time, j Journaled) []Event {
	c.leading, c.changed = true, true
	if !c.breakers.synced {
		return nil
	}
	c.adopt(now, j)
	return append(c.breakers.Unrecorded(j.Record.Trips), c.breakers.Step(now)...)
}

// read adopts a record that another process has written. A leader reads such a record if the leader before it has
// written after this process had last read the journal. Then the leader records anew, because a record that it has set
// meanwhile may be lost.
func (c *Core) read(now time.Time, r Record) []Event {
	if !c.breakers.synced {
		c.early = Journaled{r, true}
		return nil // Ready adopts the record
	}
	c.adopt(now, Journaled{r, true})
	c.stored = c.stored && !c.leading
	return c.breakers.Step(now)
}

// adopt takes the record of the journal into the state. A leader keeps the ends of its own record. A time in the future
// comes from a process whose clock is ahead, and counts as now.
func (c *Core) adopt(now time.Time, j Journaled) {
	c.changed, c.stored, c.unknown = true, false, time.Time{}
	if !j.Known {
		if c.leading {
			c.unknown = now
		}
		return
	}
	read := j.Record.Converted(func(t time.Time) time.Time {
		if t.After(now) {
			return now
		}
		return t
	})
	c.breakers.Adopt(c.recorded, read.Trips)
	c.recorded = read.Trips
	if c.leading {
		read = read.And(c.record.Holds...)
	}
	c.record, c.stored = read, reflect.DeepEqual(read, j.Record)
}

// conclude derives the record and the judge from the state, if the state has changed. Without policies and
// breakers no verdict depends on facts, so only a new configuration makes a new judge.
func (c *Core) conclude(now time.Time, reconfigured bool, do *Effects) {
	trips := c.breakers.Trips()
	if !c.changed && slices.Equal(trips, c.trips) {
		return
	}
	c.trips, c.changed = trips, false
	if c.leading && c.breakers.synced {
		do.Record = c.renew(now)
	}
	if reconfigured || !c.plain() {
		do.Judge = new(c.Judge())
	}
}

// renew brings the record up to date, and returns the record if the journal does not have it. If the journal had no
// record, all earlier holds count as ended when the leader found that. A program without policies and breakers that has
// not held anything records nothing.
func (c *Core) renew(now time.Time) *Record {
	next := c.record.With(now, c.trips, c.config.Holds(c.breakers.Tripped(), c.config.Paused))
	if !c.unknown.IsZero() && !c.plain() {
		next, c.unknown = next.And(policy.HoldRecord{By: byEarlier, Ended: c.unknown}), time.Time{}
	}
	c.stored = c.stored && reflect.DeepEqual(next, c.record)
	c.record = next
	if c.stored || c.plain() && len(next.Trips)+len(next.Holds) == 0 {
		return nil
	}
	c.stored = true
	return &next
}

// plain reports whether there are neither policies nor breakers, so that verdicts do not depend on facts.
func (c *Core) plain() bool { return len(c.config.Policies)+len(c.config.Guards.Breakers) == 0 }
