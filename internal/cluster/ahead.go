package cluster

import "time"

// Ahead returns by how much this process's wall clock is ahead of the API server's at this moment. Ages that are
// computed from that clock and from times of the API are too long by this much. Several goroutines call it. Nil means
// that the clocks agree.
type Ahead func(now time.Time) time.Duration

// at clamps a negative lead to zero.
func (a Ahead) at(now time.Time) time.Duration {
	if a == nil {
		return 0
	}
	return max(a(now), 0)
}
