package evict

import "time"

// How slots open when calls begin after there were none: slowStartFirst at once, and one more after each step.
// If all started at once, no pod would be gone before the API server had the first requests of all.
const (
	slowStartFirst = 4
	slowStartStep  = 4 * time.Millisecond
)

// slowStart limits how many calls may be under way. It goes by time alone, so that calls that hang delay no
// other. It is pure, and not safe for concurrent use.
type slowStart struct {
	since time.Time // start of the first call after there were none
}

// begin records the start of a call while no other is under way.
func (r *slowStart) begin(now time.Time) { r.since = now }

// wait returns how long until one more call may start beside those that run; 0 or less: now.
func (r *slowStart) wait(now time.Time, running int) time.Duration {
	if running < slowStartFirst {
		return 0
	}
	return r.since.Add(time.Duration(running-slowStartFirst+1) * slowStartStep).Sub(now)
}
