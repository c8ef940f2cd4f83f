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
		return fmt.Sprintf("what the server asks for, %v if it does not say, at most %v", defaultRetryAfter,
			maxRetryAfter)
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
func (ob *outageBackoff) on() bool { return ob.pause > 0 }

// nodeRead records the outcome of a GET of a node that was sent at that moment. An answer to one from before the
// pause shows nothing of the server as it is now. A failed one lengthens the pause only if it was sent after its
// start: what was under way then shows nothing new.
func (ob *outageBackoff) nodeRead(now, sent time.Time, o eviction.Outcome) {
	switch {
	case answered(o):
		if !sent.Before(ob.since) {
			ob.answered()
		}
	case o.Kind == eviction.Unavailable || ob.on() && o.Cause == eviction.CauseTimeout:
		ob.failed(now, ob.on() && !sent.Before(ob.until))
	}
}

// failed records that a call did not reach the server. When calls pause already, only their
// probe lengthens the pause.
func (ob *outageBackoff) failed(now time.Time, probe bool) {
	switch {
	case !ob.on():
		ob.hold(now, firstPause)
	case probe:
		ob.hold(now, min(2*ob.pause, maxPause))
	}
}

func (ob *outageBackoff) hold(now time.Time, pause time.Duration) {
	ob.pause, ob.since, ob.probing = pause, now, false
	ob.until = now.Add(pause/2 + time.Duration(ob.jitter()*float64(pause/2)))
	ob.round++
}

// answered records that the server is there.
func (ob *outageBackoff) answered() { ob.pause, ob.probing = 0, false }

// nudge records that the server has answered: the pause ends at once, but no sooner than firstPause after the last
// probe.
func (ob *outageBackoff) nudge(now time.Time) {
	if !ob.on() {
		return
	}
	ob.pause = firstPause
	if earliest := ob.since.Add(firstPause); earliest.After(now) {
		now = earliest
	}
	if ob.until.After(now) {
		ob.until = now
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
