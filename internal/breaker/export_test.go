package breaker

import (
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Synced marks the nodes as complete, and returns the trips and resets that follow.
func (b *Breakers) Synced(now time.Time) []Event {
	b.MarkSynced(now)
	return b.Reported(now)
}

// MarkSynced marks the nodes as complete.
func (b *Breakers) MarkSynced(now time.Time) { b.synced = now }

// Reported steps, and returns the trips and resets that follow.
func (b *Breakers) Reported(now time.Time, changes ...NodeChange) []Event {
	before := b.Trips()
	b.Step(now, changes...)
	return b.Events(now, before)
}

// Reload replaces the breakers, and returns the trips and resets that follow.
func (b *Breakers) Reload(now time.Time, list []policy.Breaker) []Event {
	b.Replace(list)
	return b.Reported(now)
}

// WithHolds returns the record with these holds in force.
func (r Record) WithHolds(now time.Time, present []policy.HoldRecord) Record {
	return r.withHolds(now, present)
}
