package guard

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Core computes the facts of verdicts. It is not safe for concurrent use.
type Core struct {
	config     Config
	breakers   *Breakers
	namespaces policy.Namespaces

	ready   bool      // Ready was reported
	leading bool      // this process leads
	began   time.Time // the present leadership
	unknown time.Time // began, if the leader does not know the record; zero otherwise

	record  Record
	written *Record // as the journal has it; nil if that is not known

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
	if !c.ready {
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
		c.ready = true
		c.adopt(now, in.Journaled)
		do.Events = c.breakers.Synced(now)
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
	c.leading, c.began, c.changed = true, now, true
	if !c.ready {
		return nil
	}
	c.adopt(now, j)
	return append(c.breakers.Unrecorded(j.Record.Trips), c.breakers.Step(now)...)
}

// read adopts a record that another process has written. A leader reads such a record if the leader before it has
// written after this process had last read the journal.
func (c *Core) read(now time.Time, r Record) []Event {
	if c.leading && !c.ready {
		return nil
	}
	c.adopt(now, Journaled{r, true})
	if c.leading {
		c.written = nil // a record that was set meanwhile may have replaced it
	}
	return c.breakers.Step(now)
}

// conclude derives the record and the judge from the state, if the state has changed. Without policies and
// breakers no verdict depends on facts, so only a new configuration makes a new judge.
func (c *Core) conclude(now time.Time, reconfigured bool, do *Effects) {
	trips := c.breakers.Trips()
	if !c.changed && slices.Equal(trips, c.trips) {
		return
	}
	c.trips, c.changed = trips, false
	if c.leading && c.ready {
		c.record = c.record.With(now, trips, c.config.Holds(c.breakers.Tripped(), c.config.Paused))
		if !c.unknown.IsZero() && !c.plain() {
			c.record = c.record.Merge(Record{Holds: []policy.HoldRecord{endOfUnknown(c.unknown)}})
		}
		do.Record = c.unwritten()
	}
	if reconfigured || !c.plain() {
		do.Judge = new(c.Judge())
	}
}

// plain reports whether there are neither policies nor breakers, so that verdicts do not depend on facts.
func (c *Core) plain() bool { return len(c.config.Policies)+len(c.config.Guards.Breakers) == 0 }

// unwritten returns the record if the journal does not have it. A program without policies and breakers that has not
// held anything records nothing.
func (c *Core) unwritten() *Record {
	stored := c.written
	if stored == nil && c.plain() {
		stored = &Record{}
	}
	if stored != nil && equal(*stored, c.record) {
		return nil
	}
	c.written = new(c.record)
	return c.written
}
