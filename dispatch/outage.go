package dispatch

import (
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// How long calls pause while the API server cannot be reached: the first pause, and the longest.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 30 * time.Second
)

// Wait returns how long all calls wait after an outcome of this kind, in words; it is empty where none waits.
func Wait(kind eviction.Kind) string {
	switch kind {
	case eviction.Unavailable:
		return fmt.Sprintf("%v, doubling to %v, with jitter", firstPause, maxPause)
	case eviction.Throttled:
		return fmt.Sprintf("what the server asks for, %v if it does not say, at most %v", defaultRetryAfter, maxRetryAfter)
	}
	return ""
}

// outageBackoff holds all calls back while the API server cannot be reached: pauses that double. After each of
// them one call may begin, the probe: the GET of its node shows whether the server is back. The zero
// value is off. It is pure, and not safe for concurrent use.
type outageBackoff struct {
	jitter  func() float64 // in [0,1); a pause is between half of its length and all of it
	pause   time.Duration  // length of the present pause; 0: off
	since   time.Time      // start of the present pause
	until   time.Time      // its end
	probing bool           // a probe is under way
	round   int            // counts pauses
}

// on reports whether the API server counts as unreachable.
func (b *outageBackoff) on() bool { return b.pause > 0 }

// nodeRead records the outcome of a GET of a node that was sent at that moment. An answer to one from before the
// pause shows nothing of the server as it is now. A failed one lengthens the pause only if it was sent after its
// start: what was under way then shows nothing new.
func (b *outageBackoff) nodeRead(now, sent time.Time, o eviction.Outcome) {
	switch {
	case answered(o):
		if !sent.Before(b.since) {
			b.answered()
		}
	case o.Kind == eviction.Unavailable || b.on() && o.Cause == eviction.CauseTimeout:
		b.failed(now, b.on() && !sent.Before(b.until))
	}
}

// failed records that a call did not reach the server. When calls pause already, only their
// probe lengthens the pause.
func (b *outageBackoff) failed(now time.Time, probe bool) {
	switch {
	case !b.on():
		b.hold(now, firstPause)
	case probe:
		b.hold(now, min(2*b.pause, maxPause))
	}
}

func (b *outageBackoff) hold(now time.Time, pause time.Duration) {
	b.pause, b.since, b.probing = pause, now, false
	b.until = now.Add(pause/2 + time.Duration(b.jitter()*float64(pause/2)))
	b.round++
}

// answered records that the server is there.
func (b *outageBackoff) answered() { b.pause, b.probing = 0, false }

// nudge records that the server has answered: the pause ends at once, but no sooner than firstPause after the last
// probe.
func (b *outageBackoff) nudge(now time.Time) {
	if !b.on() {
		return
	}
	b.pause = firstPause
	if earliest := b.since.Add(firstPause); earliest.After(now) {
		now = earliest
	}
	if b.until.After(now) {
		b.until = now
	}
}

// answered reports whether an outcome proves that the server is there.
func answered(o eviction.Outcome) bool {
	switch o.Kind {
	case eviction.Unavailable, eviction.Interrupted, eviction.DryRun:
		return false
	case eviction.Failed:
		return o.Cause != eviction.CauseTimeout && o.Cause != eviction.CausePanic && o.Cause != eviction.CauseClient
	}
	return true
}
