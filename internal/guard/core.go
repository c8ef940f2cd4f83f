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

	trips   []TripRecord // those that were reported, or need no report
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
	next := c.breakers.Next()
	return next, c.breakers.synced && !next.IsZero()
}

// Trips returns the present trips.
func (c *Core) Trips() []TripRecord {
	return slices.DeleteFunc(c.breakers.Trips(), func(t TripRecord) bool { return t.Ended })
}

// Step processes one input at the time now and returns its effects. The time may not go backwards by more than
// clocks do.
func (c *Core) Step(now time.Time, in Input) Effects {
	var changes []NodeChange
	reconfigured := false
	switch in := in.(type) {
	case NodesChanged:
		if changes = in.Changes; in.All {
			changes = slices.Concat(changes, c.breakers.Missing(changes))
		}
	case NamespacesChanged:
		c.namespaces, c.changed = in.Namespaces, true
	case Reconfigured:
		reconfigured, c.config = true, in.Config
		c.breakers.Replace(in.Guards.Breakers)
		c.trips, c.changed = c.breakers.Trips(), true
	case Ready:
		c.breakers.synced = true
		if !in.Known {
			in.Journaled = c.early // it was believed when it was read
		}
		c.adopt(now, in.Journaled)
	case RecordRead:
		c.adopt(now, Journaled{in.Record, true})
		c.stored = c.stored && !c.leading // the journal may have lost a record that this leader has set meanwhile
	case LeadershipBegan:
		c.leading = true
		c.adopt(now, in.Journaled)
		unrecorded := func(t TripRecord) bool {
			return !slices.ContainsFunc(in.Record.Trips, func(r TripRecord) bool { return r.sameGroup(t) && !r.Ended })
		}
		c.trips = slices.DeleteFunc(c.trips, unrecorded) // the leader that recorded the others has reported them
	case LeadershipEnded:
		c.leading, c.recorded = false, c.breakers.Trips()
	}
	c.breakers.Step(now, changes...)
	return c.conclude(now, reconfigured)
}

// adopt takes the record of the journal into the state, once all nodes are known. A leader reads a record if the leader
// before it has written late, and keeps the ends of its own record. A time in the future comes from a process whose
// clock is ahead, and counts as now.
func (c *Core) adopt(now time.Time, j Journaled) {
	c.changed = true
	if !c.breakers.synced {
		if j.Known {
			c.early = j
		}
		return
	}
	c.stored, c.unknown = false, time.Time{}
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
	c.recorded, c.trips = read.Trips, c.breakers.Trips()
	if c.leading {
		read = read.And(c.record.Holds...)
	}
	c.record, c.stored = read, reflect.DeepEqual(read, j.Record)
}

// conclude derives the effects from the state, if the state has changed. Without policies and breakers no verdict
// depends on facts, so only a new configuration makes a new judge.
func (c *Core) conclude(now time.Time, reconfigured bool) (do Effects) {
	trips := c.breakers.Trips()
	if !c.changed && slices.Equal(trips, c.trips) {
		return do
	}
	if c.leading { // any other process holds nothing
		do.Events = c.breakers.Events(now, c.trips)
	}
	c.trips, c.changed = trips, false
	if c.leading && c.breakers.synced {
		do.Record = c.renew(now)
	}
	if reconfigured || !c.plain() {
		do.Judge = new(c.Judge())
	}
	return do
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
