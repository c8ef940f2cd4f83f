package cluster

import "time"

// Ahead says by how much an age is too long that is taken, at this moment, from a time of the API and this process's
// wall clock. It is called by several goroutines. Nil stands for clocks that are in step.
type Ahead func(now time.Time) time.Duration

// at is never negative: no age is lengthened.
func (a Ahead) at(now time.Time) time.Duration {
	if a == nil {
		return 0
	}
	return max(a(now), 0)
}

// SetAhead lets ages that are taken from times of the API be shortened. It is to be called before Run, or before
// anything is put in.
func (r *reader) SetAhead(ahead Ahead) {
	r.pods.setAhead(ahead)
	r.nodes.ahead = ahead
}

func (t *pods) setAhead(ahead Ahead) { t.ahead = ahead }

func (a *adapter) setAhead(ahead Ahead) { a.ahead = ahead }
