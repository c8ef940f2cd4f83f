package shard

import (
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// backoff sets the wait after the n-th outcome of one kind in a row.
type backoff struct {
	first, max time.Duration
	free       int // the number of outcomes in a row without a wait
}

// watchLag is how long the watch may take to show that a pod is gone before the pod is judged again.
const watchLag = 5 * time.Second

// afterInterruption is the wait after a call that may not be made, so that it is not requested in a loop.
const afterInterruption = 250 * time.Millisecond

// backoffOf returns the backoff of a kind. Kinds that are not listed do not wait.
func backoffOf(kind eviction.Kind) backoff {
	switch kind {
	case eviction.Unavailable:
		return backoff{first: 100 * time.Millisecond, max: 30 * time.Second, free: 1}
	case eviction.Failed:
		return backoff{first: 100 * time.Millisecond, max: 30 * time.Second}
	case eviction.Blocked:
		return backoff{first: 500 * time.Millisecond, max: 15 * time.Second}
	case eviction.Refused:
		return backoff{first: time.Second, max: time.Minute}
	case eviction.Unconfirmed:
		return backoff{first: 50 * time.Millisecond, max: 5 * time.Second}
	case eviction.Interrupted:
		return backoff{first: afterInterruption, max: afterInterruption}
	case eviction.NotFound:
		return backoff{first: watchLag, max: watchLag}
	}
	return backoff{}
}

// Wait returns how long a pod waits after an outcome of this kind until its next call, in words; it is empty where
// the kind alone sets no wait.
func Wait(kind eviction.Kind) string {
	b := backoffOf(kind)
	switch {
	case b.max == 0:
		return ""
	case b.first == b.max:
		return b.first.String()
	case b.free > 0:
		return fmt.Sprintf("%v, doubling to %v, with jitter, after more than %d in a row", b.first, b.max, b.free)
	}
	return fmt.Sprintf("%v, doubling to %v, with jitter", b.first, b.max)
}

// delay returns a wait that doubles from first to max, of which the jitter in [0,1) selects between half and all,
// so that calls that failed together are not repeated together. A fixed delay (first equals max) has no jitter.
func (b backoff) delay(n int, jitter float64) time.Duration {
	n -= b.free
	if n <= 0 {
		return 0
	}
	if b.first == b.max {
		return b.first
	}
	d := b.first
	for i := 1; i < n && d < b.max; i++ {
		d *= 2
	}
	d = min(d, b.max)
	return d/2 + time.Duration(jitter*float64(d/2))
}
