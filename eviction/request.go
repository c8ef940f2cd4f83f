package eviction

import "github.com/taint-manager/taint-manager/taint"

// Request asks for one call: one attempt to evict one pod.
type Request struct {
	// Pod as the cache had it when the call was decided on.
	Pod *taint.Pod

	// Verdict because of which the pod is evicted; its At is the deadline.
	Verdict taint.Verdict

	// Attempt counts the calls for this pod, from 1.
	Attempt int

	// AfterRefusal: an earlier call was refused, or has patched the condition without a deletion. The
	// condition is patched only after a preflight of the deletion (a DELETE with dryRun=All) has passed.
	AfterRefusal bool
}
