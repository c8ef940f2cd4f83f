package guard

import "time"

// Synced marks the nodes as complete, and returns the trips and resets that follow.
func (b *Breakers) Synced(now time.Time) []Event {
	b.MarkSynced()
	return b.Step(now)
}

// MarkSynced marks the nodes as complete.
func (b *Breakers) MarkSynced() { b.synced = true }

// Buckets returns the number of buckets.
func (r *Rates) Buckets() (n int) {
	for _, rate := range r.rates {
		n += len(rate.buckets)
	}
	return n
}
