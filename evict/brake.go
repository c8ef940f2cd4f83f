package evict

import "time"

// How long calls pause while the API server is away: the first pause, and the longest.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = 30 * time.Second
)

// brake holds all calls back while the API server is away: pauses that double, and after each of them
// one call that probes. The zero brake is off. It is pure, and not safe for concurrent use.
type brake struct {
	jitter  func() float64 // in [0,1); a pause is between half of its length and all of it
	pause   time.Duration  // length of the present pause; 0: off
	since   time.Time      // start of the present pause
	until   time.Time      // its end
	probing bool           // a probe is under way
	round   int            // how often the brake came on
}

// on says whether the API server counts as away.
func (b *brake) on() bool { return b.pause > 0 }

// wait says whether a call may be granted now; when not, how long until to ask again; 0: when
// something has changed.
func (b *brake) wait(now time.Time) (bool, time.Duration) {
	if !b.on() {
		return true, 0
	}
	if b.probing {
		return false, 0
	}
	return !now.Before(b.until), b.until.Sub(now)
}

// failed takes the news that a call did not reach the server. When the brake is on already, only its
// own probe lengthens the pause: calls that were started before it began say nothing new.
func (b *brake) failed(now time.Time, probe bool) {
	switch {
	case !b.on():
		b.round++
		b.hold(now, firstPause)
	case probe:
		b.hold(now, min(2*b.pause, mostPause))
	}
}

func (b *brake) hold(now time.Time, pause time.Duration) {
	b.pause, b.since, b.probing = pause, now, false
	b.until = now.Add(pause/2 + time.Duration(b.jitter()*float64(pause/2)))
}

// answered takes the news that the server has answered a call.
func (b *brake) answered() { b.pause, b.probing = 0, false }

// nudge takes the news that the server is heard of again: the pause ends at once, but no sooner after
// the last probe than the first pause is long. It says whether a pause was cut.
func (b *brake) nudge(now time.Time) bool {
	if !b.on() {
		return false
	}
	b.pause = firstPause
	if earliest := b.since.Add(firstPause); earliest.After(now) {
		now = earliest
	}
	if b.until.After(now) {
		b.until = now
	}
	return true
}
