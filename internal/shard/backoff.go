package shard

import (
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
)

// watchLag is how long the watch may take to show that a pod is gone before the pod is judged again.
const watchLag = 5 * time.Second

// afterInterruption is the wait after an interrupted call, so that the shard does not offer the pod in a loop.
const afterInterruption = 250 * time.Millisecond

// BackoffOf returns how long a pod waits after outcomes of this kind in a row. free is how many of them, from the first
// on, set no wait. Kinds that are not listed set no wait.
func BackoffOf(kind eviction.Kind) (b dispatch.Backoff, free int) {
	switch kind {
	case eviction.Unavailable:
		return dispatch.Backoff{First: 100 * time.Millisecond, Max: 30 * time.Second}, 1
	case eviction.Failed:
		return dispatch.Backoff{First: 100 * time.Millisecond, Max: 30 * time.Second}, 0
	case eviction.Blocked:
		return dispatch.Backoff{First: 500 * time.Millisecond, Max: 15 * time.Second}, 0
	case eviction.Refused:
		return dispatch.Backoff{First: time.Second, Max: time.Minute}, 0
	case eviction.Unconfirmed:
		return dispatch.Backoff{First: 50 * time.Millisecond, Max: 5 * time.Second}, 0
	case eviction.Interrupted:
		return dispatch.Backoff{First: afterInterruption, Max: afterInterruption}, 0
	case eviction.NotFound:
		return dispatch.Backoff{First: watchLag, Max: watchLag}, 0
	}
	return dispatch.Backoff{}, 0
}
