package sim

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
)

// Counts counts what has happened in one or more worlds. A count has the name of its field.
type Counts struct {
	Worlds, Steps int
	oracle.Counts

	// Actions of the program.
	Scheduled, Evicted, Cancelled, Delayed       int
	Slow, KeptSlots, HeldByWebhook               int // calls
	LedAnew, Recorded, Received, NotSent, Edited int
	Forwarded, Forged                            int // records

	// Faults that befell the program.
	Restarts, Stops, Pauses, ClockSteps, Handovers  int
	Outages, LostAnswers, Conflicts, PartitionsLost int
	Relists, Resumed, StaleLists, Ahead             int

	OfPolicies
	outcomes [eviction.Unconfirmed + 1]int // of calls
}

// OfPolicies are the counts that only worlds with policies have.
type OfPolicies struct {
	Reloads, Trips, Resets, Holds, RateWaits, DeletedAfter int
}

// count is a count by name.
type count struct {
	name string
	n    *int
}

// countsOf returns the fields of a struct that are counts.
func countsOf(of any) (list []count) {
	v := reflect.ValueOf(of).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Type.Kind() == reflect.Int {
			list = append(list, count{f.Name, v.FieldByIndex(f.Index).Addr().Interface().(*int)})
		}
	}
	return list
}

// all returns all counts by name. No call is a dry run.
func (c *Counts) all() []count {
	list := countsOf(c)
	for k := eviction.Accepted; k <= eviction.Unconfirmed; k++ {
		if k != eviction.DryRun {
			list = append(list, count{k.String(), &c.outcomes[k]})
		}
	}
	return list
}

// Add adds the counts of other worlds.
func (c *Counts) Add(other *Counts) {
	theirs := other.all()
	for i, f := range c.all() {
		*f.n += *theirs[i].n
	}
}

// Never returns the names of the counts that are zero. Worlds with policies lack those of the oracle's deadlines.
func (c *Counts) Never(policies bool) (names []string) {
	ofPolicies := countsOf(&c.OfPolicies)
	for _, f := range c.all() {
		if *f.n == 0 && slices.Contains(ofPolicies, f) == policies {
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
