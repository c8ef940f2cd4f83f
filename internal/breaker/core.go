package breaker

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
	holding    map[string]int // how many pods each policy holds

	term    time.Time // when the present term began; zero while this process does not lead
	unread  bool      // the journal may have a record that was not read yet
	record  Record    // of the present term
	stored  bool      // the journal has the record
	earlier Record    // the holds of earlier terms, all of them ended

	// begins is when this process saw policies begin; zero for those with which it started.
	begins []policy.Begin

	trips   []TripRecord // the trips that were reported or need no report
	changed bool         // the judge may have changed although the trips have not
	holds   bool         // a policy has started or stopped holding pods
}

// NewCore returns the core of a process that loads its configuration now, and knows neither nodes nor the record yet.
func NewCore(now time.Time, c Config) *Core {
	c = c.loaded(now)
	return &Core{
		config: c, breakers: NewBreakers(c.Guards.Breakers), holding: map[string]int{}, begins: c.Begins(time.Time{}),
	}
}

// Judge returns the present judge.
func (c *Core) Judge() policy.Judge {
	f := &policy.Facts{
		Namespaces: c.namespaces, Tripped: c.breakers.Tripped(), Paused: c.config.Paused, Unread: c.unread,
		Holds: slices.Clone(c.earlier.Holds), HoldsEnded: c.earlier.HoldsEnded, Began: map[string]time.Time{},
	}
	for _, h := range c.record.Holds {
		if h.By == policy.ByPause && !h.Ended.IsZero() {
			f.Holds = append(f.Holds, h)
		}
	}
	begins := c.begins
	if c.leads() {
		begins = c.record.Policies
	}
	for _, b := range begins {
		f.Began[b.Policy] = b.Began
	}
	return policy.Judge{Set: c.config.Set, Facts: f}
}

// Next returns when [TimePassed] is due if nothing else happens; false if it is never due.
func (c *Core) Next() (time.Time, bool) {
	next := c.breakers.Next()
	return next, !c.breakers.synced.IsZero() && !next.IsZero()
}

// Trips returns the present trips.
func (c *Core) Trips() []TripRecord {
	return slices.DeleteFunc(c.breakers.Trips(), func(t TripRecord) bool { return t.Ended })
}

// Idle is [Breakers.Idle].
func (c *Core) Idle() []string { return c.breakers.Idle() }

// Step processes one input at the time now, which may decrease slightly, as wall clocks do, and returns its effects.
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
	case PodsHeld:
		before := c.holding[in.Policy]
		c.holding[in.Policy] = before + in.Pods
		if c.holds = (before == 0) != (before+in.Pods == 0); !c.holds {
			return Effects{}
		}
	case Reconfigured:
		reconfigured = true
		c.reconfigure(now, in.Config)
	case Ready:
		c.breakers.synced = now
		c.adopt(now, in.Journaled)
	case RecordRead:
		c.readLate(now, in.Record)
	case LeadershipBegan:
		c.term = now
		c.adopt(now, in.Journaled)
	case LeadershipEnded:
		c.term, c.unread, c.changed = time.Time{}, false, true
		c.record, c.earlier = Record{}, Record{}
	}
	c.breakers.Step(now, changes...)
	return c.conclude(now, reconfigured)
}

// leads reports whether this process leads.
func (c *Core) leads() bool { return !c.term.IsZero() }

func (c *Core) reconfigure(now time.Time, next Config) {
	c.config, c.changed = next.loaded(now), true
	c.breakers.Replace(c.config.Guards.Breakers)
	c.trips = c.breakers.Trips()
	c.begins = inherited(c.config.Begins(now), c.begins)
	policies := inherited(c.config.Begins(now), c.record.Policies)
	c.stored = c.stored && slices.Equal(policies, c.record.Policies)
	c.record.Policies = policies
}

// conclude derives the effects from the state. Without policies and breakers no verdict depends on facts, so only a new
// configuration makes a new judge.
func (c *Core) conclude(now time.Time, reconfigured bool) (effects Effects) {
	trips := c.breakers.Trips()
	changed := c.changed || !slices.Equal(trips, c.trips)
	if c.leads() && (changed || c.holds) {
		effects.Events = c.breakers.Events(now, c.trips) // only a leader holds evictions
		effects.Record = c.renew(now, trips)
	}
	c.trips, c.changed, c.holds = trips, false, false
	if changed && (reconfigured || !c.plain()) {
		effects.Judge = new(c.Judge())
	}
	return effects
}

// renew updates the record, and returns it if the journal lacks it. A program without policies and breakers that has
// held nothing records nothing.
func (c *Core) renew(now time.Time, trips []TripRecord) *Record {
	if c.breakers.synced.IsZero() {
		return nil
	}
	next := c.record.withHolds(now, c.config.Holds(c.holding, c.breakers.Tripped(), c.config.Paused))
	next.Trips = trips
	c.stored = c.stored && reflect.DeepEqual(next, c.record)
	c.record = next
	if c.stored || c.plain() && len(next.Trips)+len(next.Holds)+len(next.Policies) == 0 {
		return nil
	}
	c.stored = true
	return &next
}

// plain reports whether there are neither policies nor breakers, so that verdicts do not depend on facts.
func (c *Core) plain() bool { return len(c.config.Policies)+len(c.config.Guards.Breakers) == 0 }
