package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Tracked is a core's state of one pod.
type Tracked struct {
	// Queued: the eviction waits for its time, its next try or its turn.
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
func (c *Core) Tracked(uid types.UID) (t Tracked) {
	e := c.entries[uid]
	if e == nil {
		return t
	}
	t.Held, t.Accepted = e.state == held, e.state == accepted
	if e.calls != nil {
		t.Attempts = e.calls.attempts
	}
	if e.state == offered {
		if call := c.options.Dispatcher.Status(uid).Request; call != nil {
			t.Calling, t.Attempts = true, call.Attempt
		}
	}
	if t.Queued = e.state == scheduled || e.state == offered && !t.Calling; t.Queued {
		t.Deadline, t.At = e.plan.verdict.At, e.due
	}
	return t
}
