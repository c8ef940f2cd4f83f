package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/eviction"
)

// Counts say how often something has happened in one or more worlds, by name.
type Counts map[string]int

// expected returns the names of what happens in some of the worlds that the tests run.
func expected(policies bool) []string {
	if policies {
		return []string{"Reloads", "Trips", "Resets", "Holds"}
	}
	names := strings.Fields(`Evicted Cancelled Delayed OneByException Renewed TakenOver Repeated Told Forgotten KeptSlots
		Edited Forwarded Forged LostAnswers Conflicts StaleLists Ahead`)
	for _, k := range slices.Concat(common(), faults()) {
		names = append(names, string(k))
	}
	for k := eviction.Accepted; k <= eviction.Unconfirmed; k++ {
		if k != eviction.DryRun {
			names = append(names, k.String())
		}
	}
	return names
}

// Add adds the counts of other worlds.
func (c Counts) Add(other Counts) {
	for name, n := range other {
		c[name] += n
	}
}

// Missing returns which of these names never happened.
func (c Counts) Missing(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return c[name] > 0 })
}

// String returns all counts in one line.
func (c Counts) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, c[name]))
	}
	return strings.Join(parts, ", ")
}
