package cluster

import "time"

// Ahead returns by how much this process's wall clock is ahead of the API server's at this moment. Ages that are
// computed from that clock and from times of the API are too long by this much. Several goroutines call it. Nil means
// that the clocks agree.
type Ahead func(now time.Time) time.Duration

// at is never negative: no age becomes longer.
func (a Ahead) at(now time.Time) time.Duration {
	if a == nil {
		return 0
	}
	return max(a(now), 0)
}

// SetAhead sets the function by which ages that come from times of the API are shortened. It must be called before Run,
// or before anything is put in.
func (r *reader) SetAhead(ahead Ahead) {
	r.pods.setAhead(ahead)
	r.nodes.ahead = ahead
}

func (po *pods) setAhead(ahead Ahead) { po.ahead = ahead }

func (a *adapter) setAhead(ahead Ahead) { a.ahead = ahead }
