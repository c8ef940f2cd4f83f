package eviction

import (
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Overtaken is an eviction that waits here while another client deletes its pod, or has set the pod's condition
// DisruptionTarget.
type Overtaken struct {
	Pod *taint.Pod

	// Deadline is zero if the eviction is held.
	Deadline time.Time
}
