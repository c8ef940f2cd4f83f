package sim

import (
	"time"

	"github.com/taint-manager/taint-manager/shard"
)

// slots stand in for the pool of package evict: so many calls at once, a pause while the server is away
// that doubles from 100 ms to 30 s with one call as a probe after each, and a pause as long as the server
// asks for when it is loaded.
type slots struct {
	free      int
	brake     time.Duration // length of the pause; 0: none
	until     time.Duration
	probing   bool
	throttled time.Duration
}

// may says whether a call may start.
func (s *slots) may(now time.Duration) bool {
	return s.free > 0 && (s.brake == 0 || !s.probing) && s.pause(now) == 0
}

// pause is how long no call may start yet.
func (s *slots) pause(now time.Duration) time.Duration {
	pause := s.throttled - now
	if s.brake > 0 {
		pause = max(pause, s.until-now)
	}
	return max(pause, 0)
}

func (s *slots) take() {
	s.free--
	s.probing = s.brake > 0
}

// leave takes a call's outcome and its slot back.
func (s *slots) leave(now time.Duration, o shard.Outcome, jitter float64) {
	s.free++
	switch o.Kind {
	case shard.Away:
		if s.brake == 0 || s.probing {
			s.brake = min(max(2*s.brake, 100*time.Millisecond), 30*time.Second)
			s.until = now + s.brake/2 + time.Duration(jitter*float64(s.brake/2))
		}
	case shard.Throttled:
		s.throttled = max(s.throttled, now+o.RetryAfter)
	case shard.Interrupted, shard.Failed:
	default:
		s.brake = 0
	}
	s.probing = false
}

// nudge lets a probe start soon, as the server was heard of.
func (s *slots) nudge(now time.Duration) {
	if s.brake > 0 {
		s.brake = 100 * time.Millisecond
		s.until = min(s.until, now+s.brake)
	}
}
