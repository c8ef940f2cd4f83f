package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Tracked is a core's state of one pod.
type Tracked struct {
	// Queued: the eviction waits for its time, its next try or a permit.
	Queued bool

	// Deadline is the verdict's time, and At the moment before which no call starts: the deadline,
	// or later after a call that has failed. Both are zero when Queued is false.
	Deadline, At time.Time

	// Calling: a call is under way. Accepted: the API server has accepted the deletion.
	Calling, Accepted bool

	// Held: something holds the pod, and it has no other reason to go.
	Held bool

	// Attempts counts the calls made so far.
	Attempts int
}

// Tracked returns the state of a pod; the zero value if there is none.
func (c *Core) Tracked(uid types.UID) (h Tracked) {
	last := c.calls[uid]
	if e, ok := c.get(uid); ok {
		_, planned := c.planned(e, last)
		h.Queued, h.Deadline, h.At = true, planned.At, e.At
	}
	_, h.Held = c.held[uid]
	if last != nil {
		h.Calling, h.Accepted, h.Attempts = last.phase == inFlight, last.phase == accepted, last.attempts
	}
	return h
}

// Calls returns the number of pods for which a call was made, which the watch has not shown to be gone, and whose
// eviction was not cancelled.
func (c *Core) Calls() int { return len(c.calls) }

// Next returns the earliest moment at which anything that waits for a slot is due, or what waits for a rate may try
// again; false when nothing does. What waits for a slow place is due.
func (c *Core) Next() (time.Time, bool) { return c.queue.Next() }
