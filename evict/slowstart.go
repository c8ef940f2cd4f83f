package evict

import "time"

// How slots open when calls begin after there were none: so many at once, and one more after each step.
// Were all to start at once, no pod would go before the API server has had the first requests of all.
const (
	slowStartFirst = 4
	slowStartStep  = 4 * time.Millisecond
)

// slowStart says how many calls may be under way. It goes by time alone, so that calls that hang keep
// nobody waiting. It is pure, and not safe for concurrent use.
type slowStart struct {
	since time.Time // start of the first call after there were none
}

// begin takes the start of a call while no other is under way.
func (r *slowStart) begin(now time.Time) { r.since = now }

// wait is how long until one more call may start while so many are under way; 0 or less: now.
func (r *slowStart) wait(now time.Time, running int) time.Duration {
	if running < slowStartFirst {
		return 0
	}
	return r.since.Add(time.Duration(running-slowStartFirst+1) * slowStartStep).Sub(now)
}
