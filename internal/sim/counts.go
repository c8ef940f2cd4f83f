package sim

import (
	"fmt"
	"strings"

	"github.com/taint-manager/taint-manager/internal/sim/oracle"
)

// Counts counts what has happened in one or more worlds.
type Counts struct {
	Worlds, Steps int
	oracle.Counts

	// Actions of the program.
	Scheduled, Evicted, Cancelled, Delayed        int
	Unconfirmed, Interrupted, NotFound, Throttled int
	Blocked, Refused, Failed, Unavailable         int
	Slow, KeptSlots, HeldByWebhook                int
	LedAnew, Recorded, Received, NotSent, Edited  int

	// Faults that befell the program.
	Restarts, Stops, Pauses, ClockSteps, Handovers  int
	Outages, LostAnswers, Conflicts, PartitionsLost int
	Relists, Resumed, StaleLists, Ahead             int

	// Policies and guards.
	Reloads, Trips, Resets, Holds, RateWaits, DeletedAfter int
}

// count is a count by name.
type count struct {
	name string
	n    *int
}

// fields returns the counts by name that all worlds have.
func (c *Counts) fields() []count {
	return []count{
		{"worlds", &c.Worlds},
		{"steps", &c.Steps},
		{"evictions scheduled", &c.Scheduled},
		{"evicted", &c.Evicted},
		{"cancelled", &c.Cancelled},
		{"delayed", &c.Delayed},
		{"unconfirmed", &c.Unconfirmed},
		{"interrupted", &c.Interrupted},
		{"not found", &c.NotFound},
		{"throttled", &c.Throttled},
		{"blocked", &c.Blocked},
		{"refused", &c.Refused},
		{"failed", &c.Failed},
		{"unavailable", &c.Unavailable},
		{"slow calls", &c.Slow},
		{"slow calls that kept their slots", &c.KeptSlots},
		{"deletions that a webhook held", &c.HeldByWebhook},
		{"changes of leader", &c.LedAnew},
		{"records written", &c.Recorded},
		{"records received as they were written", &c.Received},
		{"records taken over", &c.TakenOver},
		{"requests not sent, as the reason had just gone", &c.NotSent},
		{"answers that showed a pod edited", &c.Edited},
		{"DELETEs repeated", &c.Repeated},
		{"kills", &c.Restarts},
		{"graceful stops", &c.Stops},
		{"pauses", &c.Pauses},
		{"steps of a wall clock", &c.ClockSteps},
		{"leases given back", &c.Handovers},
		{"outages", &c.Outages},
		{"lost answers", &c.LostAnswers},
		{"conflicts in the journal", &c.Conflicts},
		{"partitions of the journal lost", &c.PartitionsLost},
		{"starts with a clock that is ahead", &c.Ahead},
		{"relists", &c.Relists},
		{"watches resumed", &c.Resumed},
		{"stale first lists", &c.StaleLists},
		{"taken for one taint, as nobody can tell", &c.OneByException},
		{"told to be another taint by timeAdded", &c.Renewed},
		{"more states than are kept", &c.Forgotten},
	}
}

// ofPolicies returns the counts by name that only worlds with policies have.
func (c *Counts) ofPolicies() []count {
	return []count{
		{"files taken in", &c.Reloads},
		{"trips", &c.Trips},
		{"resets", &c.Resets},
		{"evictions held", &c.Holds},
		{"waits for a rate", &c.RateWaits},
		{"deletions by deleteAfter", &c.DeletedAfter},
	}
}

// all returns all counts by name.
func (c *Counts) all() []count { return append(c.fields(), c.ofPolicies()...) }

// Add adds the counts of other worlds.
func (c *Counts) Add(other *Counts) {
	theirs := other.all()
	for i, f := range c.all() {
		*f.n += *theirs[i].n
	}
}

// Never returns the names of the counts that are zero. Worlds with policies lack those of the oracle's deadlines.
func (c *Counts) Never(policies bool) (names []string) {
	of := c.fields()
	if policies {
		of = c.ofPolicies()
	}
	for _, f := range of {
		if *f.n == 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// String returns all counts other than zero, in one line.
func (c *Counts) String() string {
	var parts []string
	for _, f := range c.all() {
		if *f.n != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", f.name, *f.n))
		}
	}
	return strings.Join(parts, ", ")
}
